# frozen_string_literal: true

require "json"
require "open3"
require "test_helper"
require_relative "../../bench/lib/bench"

# A server whose processes may have 256 MB together, as in a small container.
class MemoryCgroupTest < Support::IntegrationTest
  include Support::ControlledServer

  needs Bench::Cgroup.obstacle

  LIMIT = 256 << 20
  # 40 MB that the workers share; a request makes and drops 5 MB, and one to /eat takes all that there is.
  APP = <<~'RUBY'
    STOCK = Array.new(200_000) { |number| "an article that is long enough to be outside of its slot: number #{number} " * 2 }
    run(lambda do |env|
      (HOARD ||= []) << ("x" * 1_000_000) while env["PATH_INFO"] == "/eat"
      Array.new(50) { |number| "#{number}" * 100_000 }.sum(&:size)
      [200, {}, [STOCK.size.to_s]]
    end)
  RUBY

  # Each worker keeps 80 MB of its own from its first request on.
  RELEASE = <<~RUBY
    raise "it is broken" if File.read("version") == "broken"
    #{APP.lines.first}
    run(->(_env) { [200, {}, [(HOARD ||= "x" * 80_000_000).size.to_s]] })
  RUBY

  def setup
    super
    @cgroup = Bench::Cgroup.new(LIMIT)
  end

  def teardown
    super
    @cgroup.remove
  end

  def test_as_many_workers_as_fit_serve_a_burst_and_nobody_is_killed
    server = serve_inside(workers: "auto")
    statuses = Array.new(64) { Thread.new { Array.new(8) { server.get("/").status } } }.flat_map(&:value)

    assert_equal [200], statuses.uniq
    assert_equal 0, @cgroup.kills
    assert_predicate server, :running?
    refute_match(/worker died|OOM/, server.log)
  end

  def test_a_worker_that_the_oom_killer_takes_counts_as_recycled
    @cgroup.limit(LIMIT * 3 / 2)
    server = serve_inside(workers: 2)
    await_workers(server, 2)
    others = Thread.new { Array.new(200) { server.get("/").status } }
    eaten = server.request("POST", "/eat").status

    assert_equal 502, eaten
    assert_equal [200], others.value.uniq
    await_log(server, /warn\S* +worker was killed by the OOM killer worker=\d gen=1 pid=\d+ cause="signal 9"/i)
    eventually(message: "two workers") { server.workers.size == 2 }
    refute_match(/worker died/, server.log)
  end

  def test_an_application_that_does_not_fit_ends_the_boot_and_says_why
    app = 'HOARD = []; loop { HOARD << ("x" * 1_000_000) }'
    server = server(app: app, command: @cgroup.wrap(Support::ServerOptions::COMMAND))

    assert_equal 1, server.run.exitstatus
    await_log(server, /the mold ended \(signal 9 of the OOM killer\)/)
  end

  def test_restarts_where_two_molds_leave_no_room_for_a_worker_lose_no_request
    @cgroup.limit(300 << 20)
    server = serve_inside(RELEASE, workers: 1, files: { "version" => "1" },
                                   args: [*CONTROL_SOCKET, "--memory", "60%", "--client-memory", "1MB"])
    done = false
    clients = %w[GET POST].map do |verb|
      Thread.new { [].tap { |all| all << server.request(verb, "/").status until done } }
    end
    told = %w[2 broken 3].map do |version|
      server.directory.write("version", version)
      carat(server, "restart").join
    end
    done = true

    wait = /; requests waited for \d+\.\d s, while no worker ran\n/
    assert_match(/\Acarat: restarted: generation 2 .*#{wait}0\z/, told[0])
    assert_match(/\Acarat: not restarted: config.ru:1: it is broken .*#{wait}1\z/, told[1])
    assert_match(/\Acarat: restarted: .*#{wait}0\z/, told[2])
    assert_equal [200], clients.flat_map(&:value).uniq
    assert_equal 0, @cgroup.kills
  end

  def test_what_clients_may_take_follows_a_container_that_is_resized
    server = serve_inside(workers: 1, args: %w[--control-socket carat.sock])
    before = client_memory(server)
    [LIMIT * 2, LIMIT].each do |bytes|
      @cgroup.limit(bytes)
      expected = before * bytes / LIMIT
      eventually(message: "#{expected} bytes") { (client_memory(server) - expected).abs < 2 }
    end
  end

  private

  def serve_inside(app = APP, **options)
    serve(app, threads: 1, command: @cgroup.wrap(Support::ServerOptions::COMMAND), **options)
  end

  # Bytes that clients may make the edge hold.
  def client_memory(server)
    command = [*Support::ServerOptions::COMMAND, "memory", "--json", "--control-socket", "carat.sock"]
    JSON.parse(Open3.capture2(*command, chdir: server.directory.path).first).dig("clients", "limit")
  end
end
