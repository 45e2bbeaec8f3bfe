# frozen_string_literal: true

require "forwardable"
require "json"
require "open3"
require "socket"
require "tmpdir"
require_relative "../../../test/support/jobs_app"
require_relative "../../../test/support/redis_server"

module Bench
  # The default Rails application with its jobs, as one of several programs run it: web with two workers of three
  # threads. Its processes are those below the commands that were started.
  class JobsSetup
    extend Forwardable
    START_SECONDS = 400
    STOP_SECONDS = 60
    CLI = "require 'sidekiq/cli'; it = Sidekiq::CLI.instance; it.parse(%w[-c 5]); it.run(warmup: false)"
    # What follows `process` in carat.rb.
    PROCESSES = {
      "solid" => Support::JobsApp::CONFIG, "overlap" => Support::JobsApp::OVERLAP,
      "async" => Support::JobsApp::ASYNC,
      "cable" => "cable \"/cable\"\n#{Support::JobsApp::CONFIG}",
      "reforked" => "refork after: [100]\n#{Support::JobsApp::CONFIG}",
      "reforked-overlap" => "refork after: [100]\n#{Support::JobsApp::OVERLAP}",
      "sidekiq" => "process(\"sidekiq\", count: 2, stop_timeout: \"30s\") { #{CLI} }",
      "web" => ""
    }.freeze
    PUMA = %w[bundle exec puma -p %{port}].freeze
    SERVER = %w[-b tcp://127.0.0.1:%{port} --control-socket control --boot-timeout 300].freeze
    ALONE = { "WEB_CONCURRENCY" => nil, "RAILS_MAX_THREADS" => nil, "RUBYOPT" => nil }.freeze
    # Runs $0 with what `carat init` writes, and the lines of further.rb.
    INIT = "rm carat.rb && $0 init && touch further.rb && cat further.rb >>carat.rb && exec $0 $@"
    # The commands of each set-up, and further variables; nil removes one.
    COMMANDS = {
      "carat" => [[["%{carat}", *SERVER, *%w[-w 2 -t 3 -C %{config}]]], {}],
      "carat-init" => [[["sh", "-c", INIT, "%{carat}", *SERVER]], ALONE],
      "puma-plugin" => [[PUMA], { "SOLID_QUEUE_IN_PUMA" => "1" }],
      "puma-single" => [[PUMA], { **ALONE, "WEB_CONCURRENCY" => "0" }],
      "puma-jobs" => [[PUMA, %w[bin/jobs]], {}],
      "puma-sidekiq" => [[PUMA, *[%w[bundle exec sidekiq -c 5 -e production]] * 2], {}]
    }.freeze
    VARIABLES = { "RUBYOPT" => "--yjit", "RAILS_ENV" => "production", "RAILS_LOG_LEVEL" => "warn",
                  "WEB_CONCURRENCY" => "2", "RAILS_MAX_THREADS" => "3", "SECRET_KEY_BASE" => "secret" * 10 }.freeze
    WORKER = /\A(carat: worker|puma: cluster worker)/

    attr_reader :directory
    def_delegators :@client, :port, :get, :exchange, :enqueue, :state

    # Makes a copy of the application, runs it, and yields the set-up. `wrap` changes a command, such as to run it in a
    # control group; `files` are further ones, by relative path, and `env` further variables.
    def self.run(name, jobs: "solid", wrap: :itself.to_proc, files: {}, env: {})
      Dir.mktmpdir("carat-jobs") do |directory|
        JobsApp.write(directory, files)
        setup = new(name, directory, jobs, env)
        setup.start(wrap)
        yield setup
      ensure
        setup&.stop
      end
    end

    def initialize(name, directory, jobs, env = {})
      @name = name
      @directory = directory
      @jobs = jobs
      @env = env
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      @client = JobsClient.new(port, by: ("Sidekiq" if jobs == "sidekiq"))
      File.write(path("carat.rb"), PROCESSES.fetch(jobs))
    end

    def start(wrap)
      commands, variables = COMMANDS.fetch(@name)
      env = environment.merge(variables)
      @pids = commands.map { |command| spawn(env, *wrap.call(fill(command)), **output) }
      wait("boot", START_SECONDS) { (@pids.all? { |pid| alive?(pid) } || fail("ended")) && get("/posts") == "200" }
      @client.tells = true
    end

    def stop
      @pids.select! { |pid| alive?(pid) }
      @pids.reverse_each { |pid| Process.kill(:TERM, pid) }
      @pids.each { |pid| wait("end", STOP_SECONDS) { !alive?(pid) } }
    end

    # Runs a subcommand of carat, and raises when it fails.
    def carat(*words)
      command = [Servers::CARAT, *words, "--control-socket", path("control")]
      out, status = Open3.capture2e(environment, *command, chdir: directory)
      raise Failure, "carat #{words.join(" ")}: #{out}" unless status.success?

      out
    end

    # Whether no Carat runs.
    def plain? = !@name.start_with?("carat")

    # Replaces the server by a new one.
    def upgrade
      old = @pids.first
      carat("upgrade")
      wait("end of the old server", STOP_SECONDS) { !alive?(old) }
      @pids[0] = JSON.parse(carat("status", "--json")).fetch("pid")
    end

    # The rows of the processes that run jobs, each with their number.
    def job_processes
      running = JSON.parse(carat("status", "--json")).fetch("app_processes").select { |it| it["state"] == "running" }
      running.each { |row| row["all"] = running.size }
    end

    # Ends the last command of the set-up by a signal, and starts it anew. `title` is a part of its title when it runs.
    def replace(signal, title: " busy]")
      Process.kill(signal, @pids.last)
      Process.wait(@pids.last)
      pid = @pids[-1] = spawn(environment, *fill(COMMANDS.fetch(@name).first.last), **output)
      wait(title, START_SECONDS) { File.read("/proc/#{pid}/cmdline").include?(title) }
    end

    # Serves with code that is loaded anew: `carat restart`, or Puma's hot restart.
    def restart
      return carat("restart") unless plain?

      old = workers
      Process.kill(:USR2, @pids.first)
      wait("restart", START_SECONDS) { workers.then { |now| now.size >= old.size && (now & old).empty? } }
    end

    # The process ids of the workers; none for Puma in single mode.
    def workers = @pids.flat_map { |pid| ProcessTree.new(pid).titles.select { |_, title| WORKER.match?(title) }.keys }

    # CPU seconds of all processes so far.
    def tree_cpu = @pids.sum { |pid| ProcessTree.new(pid).cpu }

    # The numbers in the ledger.
    def ledger
      File.exist?(path("ledger")) ? File.readlines(path("ledger"), chomp: true).map(&:to_i) : []
    end

    # Waits until a block returns true.
    def wait(what, seconds)
      give_up = Bench.now + seconds
      until yield
        fail("no #{what} within #{seconds} s") if Bench.now > give_up

        sleep 0.1
      end
    end

    # All processes with their memory.
    def members = @pids.flat_map { |pid| ProcessTree.new(pid).members }

    def path(name) = File.join(directory, name)

    private

    def fail(what) = raise(Failure, "#{@name}: #{what}: #{File.readlines(path("output")).last(20).join}")

    # A server that an upgrade has started is no child of this process.
    def alive?(pid)
      Process.wait(pid, Process::WNOHANG).nil?
    rescue Errno::ECHILD
      File.exist?("/proc/#{pid}") && !File.read("/proc/#{pid}/stat").include?(") Z ")
    end

    def output = { chdir: directory, %i[out err] => [path("output"), "a"], rlimit_nofile: Server.descriptors }

    def fill(command)
      command.map { |word| format(word, carat: Servers::CARAT, port: port, config: path("carat.rb")) }
    end

    def environment
      cleared = ENV.keys.grep(ServerSpec::CLEARED).to_h { |key| [key, nil] }
      redis = @jobs == "sidekiq" ? { "REDIS_SOCKET" => Support::RedisServer.shared.path } : {}
      { **cleared, **VARIABLES, **redis, **@env }
    end
  end
end
