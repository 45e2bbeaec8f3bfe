# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"
require "carat/cli/control/control_client"

module Carat
  class ControlSocketTest < Support::IntegrationTest
    NAME = "control.sock"
    # /hold never releases the GVL.
    APP = <<~RUBY
      run(lambda do |env|
        File.write("arrivals", "GET \#{env["PATH_INFO"]} \#{Process.pid}\\n", mode: "a")
        #{Support::Gate::GVL_HOLDER} if env["PATH_INFO"] == "/hold"
        [200, {}, ["done"]]
      end)
    RUBY

    def test_memory_of_each_process_is_told
      server = start
      3.times { server.get }
      report = ask_for_memory(server)
      processes = report["processes"]
      names = processes.map { |row| row.values_at("role", "number").compact.join(" ") }

      assert_equal [server.pid, server.mold, *server.workers.sort.map(&:last)], processes.map { |row| row["pid"] }
      assert_equal ["edge", "mold", "worker 1", "worker 2"], names
      assert_equal report["totals"]["pss"], processes.sum { |row| row["memory"]["pss"] }
      assert_equal 2, report["fit"]["workers"]
      assert_operator report["without_sharing"], :>, report["totals"]["pss"]
      assert_equal 3, processes.sum { |row| row["requests"].to_i }
    end

    def test_the_budget_and_where_it_comes_from_are_told
      server = start(args: ["--control-socket", NAME, "--memory", "900MB"])
      budget = eventually(message: "a first weighing") { ask_for_memory(server)["budget"] }

      assert_operator budget["limit"], :<=, 900 * 1024**2
      assert_includes 1..budget["limit"], budget["used"]
      assert_includes %w[container machine], budget["source"]
      assert_operator budget["whole"], :>=, budget["limit"]
    end

    def test_ruby_processes_tell_of_their_heaps
      figures = figures_of(start(fibers: nil, threads: 2))

      assert_equal [RUBY_VERSION] * 3, (figures.map { |each| each["ruby"] })
      assert(figures.all? { |each| each["heap"]["live_slots"] > 1000 })
      assert_equal [nil, 2, 2], (figures.map { |each| each["stats"] && each["stats"]["lanes"].size })
    end

    def test_workers_with_fibers_tell_as_well
      server = start(fibers: 8)
      server.get
      lanes = figures_of(server).last(2).flat_map { |each| each["stats"]["lanes"] }

      assert_equal([[8, 8], 1], [lanes.map { |lane| lane["capacity"] }, lanes.sum { |lane| lane["served"] }])
    end

    def test_a_worker_that_does_not_answer_has_null_and_keeps_nobody_waiting
      server = start
      holder = hold_lock(server)
      reports = Array.new(3) { Thread.new { ask_for_memory(server) } }.map(&:value)
      reports << ask_for_memory(server)

      reports.each do |report|
        row = report["processes"].find { |each| each["pid"] == holder }
        assert_nil row["figures"]
        assert_operator row["memory"]["pss"], :>, 0
      end
    end

    def test_a_worker_that_dies_in_between_is_left_out
      server = start
      holder = hold_lock(server)
      report = Thread.new { ask_for_memory(server) }
      Process.kill(:KILL, holder)

      refute_includes(report.value["processes"].map { |row| row["pid"] }, holder)
    end

    def test_what_is_no_route_is_refused
      server = start
      statuses = [["GET", "/"], ["GET", "/memory/"], ["POST", "/memory"], ["HEAD", "/memory"]].map do |verb, target|
        client = Support::RawClient.unix(socket(server))
        client.request(verb, target).read_response(head: verb == "HEAD").status
      ensure
        client&.close
      end

      assert_equal [404, 404, 405, 200], statuses
    end

    def test_a_client_that_sends_too_much_or_nothing_is_in_nobodys_way
      server = start
      silent = Array.new(7) { Support::RawClient.unix(socket(server)) }
      large = Support::RawClient.unix(socket(server))
      large.request("GET", "/memory", fields: { "X" => "x" * 9000 })

      assert_equal 431, large.read_response.status
      assert_equal server.pid, ask_for_memory(server)["pid"]
    ensure
      [*silent, large].each(&:close)
    end

    def test_only_its_user_and_root_may_ask
      server = start
      File.chmod(0o755, server.directory.path)

      assert_equal 0o600, File.stat(socket(server)).mode & 0o777
      skip "only root can become somebody else" unless Process.uid.zero?
      words = ["-r", "socket", "-e", "UNIXSocket.new(ARGV.first) rescue print $!.class", socket(server)]
      stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", RbConfig.ruby, *words]

      assert_equal "Errno::EACCES", IO.popen(stranger, &:read)
      File.chmod(0o666, socket(server))
      words[3] = "puts UNIXSocket.open(ARGV.first) { |socket| socket.read.inspect }"

      assert_equal "\"\"\n", IO.popen([*stranger.first(5), *words], &:read)
    end

    def test_without_an_option_it_is_in_a_private_directory_and_ends_with_the_server
      server = serve(APP)
      path = File.join(server.directory.path, "carat", "carat-#{server.pid}.sock")
      eventually(message: "the socket") { File.socket?(path) }
      assert_equal 0o700, File.stat(File.dirname(path)).mode & 0o777
      server.stop

      refute_path_exists path
    end

    def test_a_server_without_a_control_socket_serves
      server = server(app: APP, args: ["--control-socket", NAME])
      other = UNIXServer.new(socket(server))
      server.start
      await_log(server, / warn no control socket: .* cause="\S*#{NAME}: Address already in use/)

      assert_equal "done", server.get.body
    ensure
      other&.close
    end

    private

    def start(**options)
      server = serve(APP, workers: 2, threads: 1, args: ["--control-socket", NAME], **options)
      await_workers(server, 2)
      server
    end

    # Lets a worker hold the GVL, and returns its pid.
    def hold_lock(server)
      ask(server, "GET", "/hold")
      await_arrivals(server, 1).first.pid
    end

    def ask_for_memory(server)
      path = socket(server)
      eventually(message: "the control socket") { File.socket?(path) }
      JSON.parse(CLI::ControlClient.new(path).get("/memory"))
    end

    # The figures of the mold and the workers, which have a second to reply.
    def figures_of(server)
      eventually(message: "figures of all processes") do
        figures = ask_for_memory(server)["processes"].drop(1).map { |row| row["figures"] }
        figures if figures.all?
      end
    end

    def socket(server)
      File.join(server.directory.path, NAME)
    end
  end
end
