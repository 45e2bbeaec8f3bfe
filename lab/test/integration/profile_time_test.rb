# frozen_string_literal: true

require "json"
require "test_helper"

# `carat profile --cpu`, `--wall`, and `--gvl` of a worker that serves.
class ProfileTimeTest < Support::IntegrationTest
  include Support::ControlledServer
  include Support::ProfiledApplication

  # The lines count from 1.
  RACKUP = <<~RUBY
    def hot = 40_000.times { |number| Math.sqrt(number) }
    def cool = 10_000.times { |number| Math.sqrt(number) }
    def nap = sleep(0.05)
    run ->(env) { hot; cool; nap if env["PATH_INFO"] == "/nap"; [200, {}, ["hello"]] }
  RUBY
  COMMAND = %w[profile --worker 1 --seconds 2 --sampling 2ms --json].freeze

  def test_hot_method_of_a_worker_with_threads_has_most_of_the_cpu
    assert_hot_method(threads: 3)
  end

  def test_hot_method_of_a_worker_with_fibers_has_most_of_the_cpu
    assert_hot_method(fibers: 5)
  end

  def test_method_that_sleeps_is_in_the_wall_clock_but_not_in_that_of_the_cpu
    skip "Ruby 3.3 reads the frames of other threads" if RUBY_VERSION < "3.3"
    document = profile(served(threads: 2), "--cpu", "--wall", path: "/nap")
    cpu, wall = %w[cpu wall].map { |clock| calls(document, "microseconds", clock) }

    assert_equal [%w[cpu wall], { "worker" => 1 }], document.values_at("clocks", "source")
    assert_operator inclusive(wall, &line(3)), :>, inclusive(wall, &line(1))
    assert_operator inclusive(cpu, &line(3)), :<, inclusive(cpu, &line(1))
  end

  def test_method_that_computes_is_in_the_wall_clock_without_that_of_the_cpu
    skip "Ruby 3.3 reads the frames of other threads" if RUBY_VERSION < "3.3"
    document = profile(served(threads: 1), "--wall")
    hot, cool = [1, 2].map { |number| inclusive(calls(document, "microseconds", "wall"), &line(number)) }

    assert_operator hot, :>, cool
    assert_operator hot, :>, 200_000
  end

  def test_threads_that_fight_for_the_lock_wait_for_it
    skip "Ruby 3.2 has events of threads" if RUBY_VERSION < "3.2"
    waited, ran = profile(served(threads: 2), "--gvl").values_at("waited_seconds", "ran_seconds")

    assert_operator waited, :>, 0.02 * (waited + ran)
  end

  def test_clock_that_ruby_does_not_have_is_one_sentence
    skip "this Ruby has all clocks" unless RUBY_VERSION < "3.2"
    server = served

    assert_equal ["", "carat: the worker cannot be profiled: who waits for the GVL is known since Ruby 3.2\n", 1],
                 carat(server, *COMMAND, "--gvl")
    assert_equal 200, server.get.status
  end

  def test_files_have_cpu_and_allocations_and_a_profile_of_one_number_is_folded
    server = served
    out, err, status = while_asked(server) do
      carat(server, *COMMAND, "--cpu", "--allocations", "--sampling", "64KB", "--html", "a.html",
            "--pprof", "a.pb.gz", "--speedscope", "a.json")
    end
    directory = server.directory

    assert_equal [0, 3], [status, err.scan(": written").size], err
    assert_equal [["cpu"], nil], out.lines.map { |line| JSON.parse(line)["clocks"] }
    profiles = JSON.parse(directory.read("a.json"))["profiles"]

    assert_equal %w[cpu alloc_space], profiles.first(2).map { |each| each["name"] }
    assert_equal "\x1F\x8B".b, File.binread(File.join(directory.path, "a.pb.gz"), 2)
    assert_includes directory.read("a.html"), "Time by call"
    assert_equal "--collapsed: choose one of --cpu, --wall, --gvl, and --allocations\n",
                 carat(server, *COMMAND, "--cpu", "--gvl", "--collapsed")[1]
  end

  def test_worker_has_no_handler_and_no_timer_before_and_after
    server = served
    status = "/proc/#{server.workers.fetch(1)}/status"
    caught = -> { File.read(status)[/SigCgt:\s*(\h+)/, 1].hex[Signal.list["PROF"] - 1] }
    before = [caught.call, maps(server).include?("lab.so")]
    profile(server, "--cpu")

    assert_equal [0, false, 0], [*before, caught.call]
  end

  def test_worker_that_is_replaced_meanwhile_says_so
    server = served
    pid = server.workers.fetch(1)
    asker = Thread.new { carat(server, "profile", "--worker", "1", "--seconds", "600", "--cpu", "--json") }
    eventually(message: "a profile") { maps(server).include?("carat/lab.so") }
    50.times { server.get }
    Process.kill(:TERM, pid)
    document = JSON.parse(asker.value.first)

    assert_equal [true, pid], document.values_at("replaced", "pid")
  end

  private

  def served(**options)
    server(app: RACKUP, workers: 1, args: CONTROL_SOCKET, **options).start
  end

  def maps(server) = File.read("/proc/#{server.workers.fetch(1)}/maps")

  # The document of a profile; meanwhile, the server gets requests.
  def profile(server, *words, path: "/")
    out, err, status = while_asked(server, path) { carat(server, *COMMAND, *words) }

    assert_equal ["", 0], [err, status]
    JSON.parse(out)
  end

  def while_asked(server, path = "/")
    is_over = false
    clients = Array.new(3) { Thread.new { server.get(path) until is_over } }
    yield
  ensure
    is_over = true
    clients.each(&:join)
  end

  # Of eight parts in ten.
  def assert_hot_method(**options)
    document = profile(served(**options), "--cpu")
    calls = calls(document, "microseconds", "cpu")
    hot, cool, nap = [1, 2, 3].map { |number| inclusive(calls, &line(number)) }

    assert_operator hot, :>, cool
    assert_equal 0, nap
    assert_operator hot + cool, :>, calls.sum(&:last) / 2
  end
end
