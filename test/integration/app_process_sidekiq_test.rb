# frozen_string_literal: true

require "redis"
require "test_helper"

# Sidekiq in a process of the application, embedded and by its command line: a ledger of its jobs.
class AppProcessSidekiqTest < Support::IntegrationTest
  include Support::ControlledServer

  needs("Sidekiq 8 is not installed") if Gem::Specification.find_all_by_name("sidekiq", "~> 8.0").empty?

  BATCH = 20
  JOB = <<~'RUBY'
    require "sidekiq"
    Sidekiq.logger.level = Logger::WARN
    options = { url: "unix://#{ENV.fetch("REDIS_SOCKET")}" }
    Sidekiq.configure_client { |config| config.redis = options }
    Sidekiq.configure_server { |config| config.redis = options }
    class CountsJobs
      def call(*)
        File.write("count", ".", mode: "a")
        yield
      end
    end
    Sidekiq.configure_server { |config| config.server_middleware { |chain| chain.add(CountsJobs) } }
    class EntryJob
      include Sidekiq::Job
      def perform(number)
        sleep 0.05
        File.write("ledger", "#{number}\n", mode: "a")
      end
    end
  RUBY
  APP = <<~'RUBY'
    require_relative "job"
    run(lambda do |env|
      from = Integer(env["QUERY_STRING"])
      (from...(from + 20)).each { |number| EntryJob.perform_async(number) }
      [200, {}, []]
    end)
  RUBY
  EMBEDDED = <<~'RUBY'
    process "sidekiq", stop_timeout: "30s" do
      stop = Thread::Queue.new
      trap("TERM") { stop << true }
      sidekiq = Sidekiq.configure_embed { |config| config.concurrency = 5 }
      sidekiq.run
      stop.pop
      sidekiq.stop
    end
  RUBY
  COMMAND_LINE = <<~'RUBY'
    process "sidekiq", stop_timeout: "30s" do
      require "sidekiq/cli"
      trap("TERM", "SYSTEM_DEFAULT")
      sidekiq = Sidekiq::CLI.instance
      sidekiq.parse(%w[-r ./job.rb -c 5])
      blocks = Sidekiq.instance_variable_get(:@config_blocks)
      blocks&.each { |block| block.call(Sidekiq.default_configuration) }
      sidekiq.run(warmup: false)
    end
  RUBY

  def test_each_job_runs_once_through_restarts_and_an_upgrade
    [EMBEDDED, COMMAND_LINE].each do |config|
      Redis.new(path: Support::RedisServer.shared.path).flushall
      server = start(config)
      %w[restart restart upgrade].each_with_index do |command, index|
        enqueue(server, (index * BATCH) + 1)
        assert_equal 0, carat(server, command).last
      end
      all = (1..(3 * BATCH)).to_a
      eventually(message: "all jobs") { ledger(server).uniq.size >= all.size }

      assert_equal all, ledger(server).sort
      carat(server, "stop")
    end
  end

  def test_the_command_line_takes_the_server_middleware_of_initializers
    Redis.new(path: Support::RedisServer.shared.path).flushall
    server = start(COMMAND_LINE)
    enqueue(server, 1)
    eventually(message: "all jobs") { ledger(server).size >= BATCH }

    assert_equal BATCH, server.directory.read("count").size
    carat(server, "stop")
    refute_includes server.log, "Error in TERM handler"
  end

  def test_the_number_of_processes_follows_the_latency_of_the_queue
    Redis.new(path: Support::RedisServer.shared.path).flushall
    load = "load: -> { Sidekiq::Queue.new.latency }"
    server = start(COMMAND_LINE.sub("stop_timeout", "count: 1..2, #{load}, stop_timeout")
                               .sub("sidekiq.run", 'sleep 0.01 until File.exist?("gate"); sidekiq.run')
                               .prepend("before_fork { require 'sidekiq/api' }\n"))
    10.times { |index| enqueue(server, (index * BATCH) + 1) }
    await_log(server, /processes follow their load process=sidekiq count=2 load=[1-9]/)
    server.directory.write("gate", "")

    eventually(message: "all jobs") { ledger(server).uniq.size >= 10 * BATCH }
    assert_equal (1..(10 * BATCH)).to_a, ledger(server).sort
  end

  private

  def start(config)
    env = { "REDIS_SOCKET" => Support::RedisServer.shared.path }
    server(app: APP, files: { "job.rb" => JOB }, config:, env:, workers: 1, args: CONTROL_SOCKET).start
  end

  def enqueue(server, from)
    assert_equal 200, server.get("/?#{from}").status
  end

  def ledger(server)
    server.directory.read("ledger").lines.map(&:to_i)
  end
end
