# frozen_string_literal: true

require "json"
require "test_helper"

# Connections and a thread that the hooks open in each worker, and close before a worker becomes the mold.
class ReforkHooksTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "json"
    require "pg"
    require "redis"
    run(lambda do |_env|
      $reports << Process.pid
      connections = [$postgres.exec("select pg_backend_pid()").getvalue(0, 0), $redis.call("CLIENT", "ID")]
      [200, {}, [JSON.generate([Process.pid, Carat.stats[:generation], connections, $reporter.alive?])]]
    end)
  RUBY
  CONFIG = <<~'RUBY'
    after_fork do
      $postgres = PG.connect(ENV.fetch("POSTGRES"))
      $redis = Redis.new(path: ENV.fetch("REDIS"))
      $reports = Queue.new
      $reporter = Thread.new { loop { File.write("reports", "#{$reports.pop}\n", mode: "a") } }
    end
    before_refork do
      $postgres.close
      $redis.close
      $reporter.kill.join
    end
  RUBY

  def test_each_worker_of_each_generation_has_its_own
    server = serve(APP, config: CONFIG, workers: 1, threads: 1, args: %w[--refork 3,1000000], env: environment)
    old = Array.new(3) { answer(server) }.last
    renewed = eventually(message: "a worker of the second generation") do
      answer(server).then { |answer| answer if answer[1] == 2 }
    end

    assert_equal [true, true], [old.last, renewed.last]
    old[2].zip(renewed[2]) { |before, after| refute_equal before, after }
    assert_equal 1, Support::ProcessTree.sockets(server.mold).size
    eventually { server.directory.read("reports").lines(chomp: true).include?(renewed.first.to_s) }
  end

  def test_without_the_hook_the_thread_is_named_and_the_generation_is_not_asked_again
    server = serve(APP, config: CONFIG.sub("$reporter.kill.join", ""), workers: 1, threads: 1,
                        args: %w[--refork 3,1000000], env: environment)
    3.times { answer(server) }
    await_log(server, /did not become the mold .*cause="Ruby threads are left running: #<Thread:.*carat\.rb:5/)

    20.times { assert_equal 1, answer(server)[1] }
    assert_equal 1, server.log.scan("becomes the next mold").size
  end

  TIMER = <<~'RUBY'
    require "concurrent"
    run ->(_env) { [200, {}, [$task.running?.to_s]] }
  RUBY
  TIMER_CONFIG = "after_fork { $task = Concurrent::TimerTask.new(execution_interval: 3600) { nil }.tap(&:execute) }\n"

  def test_the_thread_of_a_library_is_named_with_its_gem
    server = serve(TIMER, config: TIMER_CONFIG, workers: 1, threads: 1, args: %w[--refork 3,1000000])
    3.times { assert_equal "true", server.get.body }

    await_log(server, /did not become the mold .*cause="Ruby threads are left running: .* \(gem concurrent-ruby-\d/)
    assert_equal "true", server.get.body
  end

  def test_a_timer_task_that_the_hook_shuts_down_leaves_no_thread
    config = "#{TIMER_CONFIG}before_refork { $task.shutdown }\n"
    server = serve(TIMER, config: config, workers: 1, threads: 1, args: %w[--refork 3,1000000])
    3.times { assert_equal "true", server.get.body }

    await_log(server, /mold ready gen=2/)
    assert_equal "true", server.get.body
  end

  private

  # Process id, generation, ids of both connections, and whether the thread runs.
  def answer(server)
    response = server.get
    assert_equal 200, response.status, response.body
    JSON.parse(response.body)
  end

  def environment
    { "POSTGRES" => Support::Postgres.shared.url, "REDIS" => Support::RedisServer.shared.path }
  end
end
