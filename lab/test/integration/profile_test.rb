# frozen_string_literal: true

require "json"
require "test_helper"

# `carat profile` about an application whose allocations are known.
class ProfileTest < Support::IntegrationTest
  include Support::ControlledServer
  include Support::ProfiledApplication

  FINE = ["--sampling", "4KB"].freeze
  SHORT = ["--seconds", "1", *FINE].freeze
  # Far longer than any test takes.
  LONG = ["--worker", "1", "--seconds", "600", *FINE].freeze

  def test_paths_have_their_allocations_in_ruby_and_in_c
    document = document_of(*profile("--path", "/", "--path", "/b", *SHORT, "--json"))

    assert_equal [1, { "paths" => ["/", "/b"] }, true, false],
                 document.values_at("schema", "source", "native", "interrupted")
    assert_shares(document)
  end

  def test_memory_that_is_kept_is_live
    document = document_of(*profile(*SHORT, "--json"))
    live = calls(document, "live")

    assert_in_delta 2, inclusive(live, &native("hoard_block")).fdiv(inclusive(live, &line(3))), 0.4
    assert_operator inclusive(live, &line(4)), :<, inclusive(live, &line(3)) / 10
  end

  def test_code_that_is_gone_by_the_end_is_named
    @home = server(app: "run ->(_env) { eval(\"def self.gone = 'g' * 900; gone\"); [200, {}, []] }\n")
    names = document_of(*profile(*SHORT, "--json")).fetch("frames").map { |frame| frame["name"] }

    assert_includes names.join(" "), ".gone"
  end

  def test_worker_with_threads_is_profiled_while_it_serves
    assert_worker_is_profiled(threads: 3)
  end

  def test_worker_with_fibers_is_profiled_while_it_serves
    assert_worker_is_profiled(fibers: 10)
  end

  def test_text_shows_the_tree_and_its_inversion
    out, err, status = profile(*SHORT)

    assert_equal ["", true], [err, status.success?]
    assert_match(/\A[\d.]+ MiB allocated in [\d.]+ s and \d+ requests, [\d.]+ KiB a request$/, out)
    assert_match(/^ *\d+\.\d %.* \(carat\)$/, out)
    assert_match(/^ [345]\d\.\d %.* \S*drop config\.ru:4$/, out)
    inverted, = profile(*SHORT, "--invert", "--live")

    assert_match(/^ [56]\d\.\d %.* hoard_block \(hoard\.so\)$/, inverted)
  end

  def test_samples_that_cost_too_much_are_halved_unless_their_number_was_chosen
    server = served(app: "run ->(_env) { 200.times { 'x' * 1_000_000 }; [200, {}, []] }\n")
    command = %w[profile --worker 1 --seconds 2 --json]
    [[[], :>], [%w[--sampling 512KB], :==]].each do |flags, comparison|
      out, = while_asked(server) { carat(server, *command, *flags) }
      first, last = JSON.parse(out).values_at("sampling_bytes", "sampling_bytes_at_end")

      assert_equal 524_288, first
      assert_operator last, comparison, first
    end
  end

  def test_second_profile_of_a_worker_is_refused
    server = served
    with_profile(server) do |command|
      refusal = "carat: worker 1 is already being profiled\n"

      assert_equal ["", refusal, 1], carat(server, "profile", "--worker", "1", *SHORT)
      command.interrupt
    end
  end

  def test_ctrl_c_reports_what_is_known_and_leaves_nothing_on
    server = served
    document = with_profile(server) do |command|
      100.times { server.get }
      command.interrupt
      JSON.parse(command.output)
    end

    assert_equal [true, { "worker" => 1 }], document.values_at("interrupted", "source")
    assert_operator inclusive(calls(document), &line(3)), :>, 0
    assert_match(/ 0 requests/, carat(server, "profile", "--worker", "1", *SHORT).first)
  end

  def test_death_of_the_client_ends_the_profile
    server = served
    with_profile(server, &:kill)

    eventually(message: "another profile") { carat(server, "profile", "--worker", "1", *SHORT).last.zero? }
  end

  def test_death_of_the_worker_is_one_sentence
    server = served
    with_profile(server) do |command|
      Process.kill(:KILL, server.workers.fetch(1))

      assert_equal ["", "carat: worker 1 ended while it was profiled\n"], [command.output, command.errors]
    end
  end

  def test_worker_that_is_replaced_sends_what_it_knows
    server = served
    document = with_profile(server) do |command|
      100.times { server.get }
      Process.kill(:TERM, server.workers.fetch(1))
      JSON.parse(command.output)
    end

    assert_equal [true, false], document.values_at("replaced", "interrupted")
    assert_operator inclusive(calls(document), &line(3)), :>, 0
  end

  def test_failures_are_one_clear_sentence
    server = served

    assert_equal "carat: there is no worker 7, only: 1\n", carat(server, "profile", "--worker", "7")[1]
    assert_equal "--worker: \"x\" is not a number from 1 to 4294967295\n", profile("--worker", "x")[1]
    assert_equal "--sampling: \"1\" is not a size from 1KB to 1TB\n", profile("--sampling", "1")[1]
    assert_equal "--path: a running worker gets its own requests\n", profile("--worker", "1", "--path", "/")[1]
    assert_match(/: no server listens there$/, profile("--worker", "1", "--control-socket", "nobody.sock")[1])
    File.write(File.join(server.directory.path, "config.ru"), "run ->(_env) { [500, {}, []] }\n")

    assert_includes profile[1], "carat: GET / responds with status 500; name a path that works with --path\n"
    File.write(File.join(server.directory.path, "config.ru"), "raise \"no database\"\n")

    assert_includes profile[1], "no database"
  end

  private

  # `carat profile` of a running worker, in a process of its own.
  class Command
    def initialize(server)
      @output, output = IO.pipe
      @errors, errors = IO.pipe
      words = [*Support::ServerOptions::COMMAND, "profile", *LONG, "--json", "--control-socket", "carat.sock"]
      @pid = spawn(Support::ServerOptions::NEUTRAL_ENV, *words, chdir: server.directory.path, out: output, err: errors)
      [output, errors].each(&:close)
    end

    def interrupt = Process.kill(:INT, @pid)
    def kill = Process.kill(:KILL, @pid)
    def output = @output.read
    def errors = @errors.read
    def wait = Process.wait(@pid)
  end
  private_constant :Command

  # Yields a Command whose profile has begun, and which the block ends.
  def with_profile(server)
    command = Command.new(server)
    maps = "/proc/#{server.workers.fetch(1)}/maps"
    eventually(message: "a profile") { File.read(maps).include?("carat/lab.so") }
    yield command
  ensure
    command&.wait
  end

  # What the block returns; meanwhile, the server gets requests.
  def while_asked(server)
    is_over = false
    client = Thread.new { server.get until is_over }
    yield
  ensure
    is_over = true
    client.join
  end

  # A server with the application, which is at the control socket of `carat`.
  def served(**options)
    application(workers: 1, args: CONTROL_SOCKET, **options).start
  end

  # A directory with the application.
  def application(**options)
    @home = server(**{ app: RACKUP }, **options).tap { |server| compile_hoard(server.directory.path) }
  end

  # Standard output, standard error, and the status of the command.
  def profile(*words)
    home = @home || application
    Open3.capture3(Support::ServerOptions::NEUTRAL_ENV, *Support::ServerOptions::COMMAND, "profile", *words,
                   chdir: home.directory.path)
  end

  def document_of(out, err, status)
    assert_predicate status, :success?, err
    JSON.parse(out)
  end

  def assert_worker_is_profiled(**options)
    server = served(**options)
    is_over = false
    clients = Array.new(3) { Thread.new { server.get until is_over } }
    out, err, status = carat(server, "profile", "--worker", "1", *SHORT, "--json")
    is_over = true
    clients.each(&:join)

    assert_equal ["", 0], [err, status]
    document = JSON.parse(out)

    assert_equal [{ "worker" => 1 }, server.workers.fetch(1)], document.values_at("source", "pid")
    assert_operator document["requests"], :>, 0
    assert_shares(document)
  end

  # The line of Ruby keeps half as much as the function of C, and a third of what the next line drops.
  def assert_shares(document)
    calls = calls(document)
    kept = inclusive(calls, &line(3))

    assert_in_delta 2, inclusive(calls, &native("hoard_block")).fdiv(kept), 0.4
    assert_in_delta 3, inclusive(calls, &line(4)).fdiv(kept), 0.6
  end
end
