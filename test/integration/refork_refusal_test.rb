# frozen_string_literal: true

require "test_helper"

# Workers that do not become the mold, and those that are disturbed on their way.
class ReforkRefusalTest < Support::IntegrationTest
  PID = "run ->(_env) { [200, {}, [Process.pid.to_s]] }"
  NOTE = 'note = ->(hook) { File.write("hooks", "#{hook} #{Process.pid}\n", mode: "a") }'

  def test_hooks_run_in_their_order
    server = refork(PID, config: <<~RUBY)
      #{NOTE}
      on_worker_shutdown { note.call("shutdown") }
      before_refork { note.call("before") }
      after_refork { note.call("after") }
    RUBY
    mold = await_log(server, /mold ready gen=2 pid=(\d+)/)[1]

    expected = %w[shutdown before after].map { |hook| "#{hook} #{mold}" }
    assert_equal expected, server.directory.read("hooks").lines(chomp: true).first(3)
  end

  def test_a_thread_that_the_application_left_running_is_named
    server = refork(<<~RUBY)
      run(lambda do |_env|
        $ticker ||= Thread.new { sleep }
        [200, {}, [Process.pid.to_s]]
      end)
    RUBY
    await_log(server, /did not become the mold .*cause="Ruby threads are left running: #<Thread:.*config\.ru:2/)

    assert_nothing_lost(server, attempts: 0)
  end

  def test_the_idle_pool_of_a_library_is_no_obstacle_and_works_in_the_next_generation
    server = refork(<<~RUBY)
      require "logger"
      require "concurrent"
      pool = Concurrent::ThreadPoolExecutor.new(min_threads: 0, max_threads: 2, idletime: 60)
      run(lambda do |_env|
        answer = Queue.new
        pool.post { answer << Process.pid }
        [200, {}, [answer.pop.to_s]]
      end)
    RUBY
    await_log(server, /mold ready gen=2/)
    await_log(server, /worker ready worker=\d+ gen=2/)

    eventually { server.workers.value?(server.get.body.to_i) && server.get.status == 200 }
  end

  def test_threads_that_are_said_to_be_safe_are_none_to_care_about
    server = refork(<<~RUBY)
      require "timeout"
      run(lambda do |_env|
        $safe ||= Thread.new { sleep }.tap { |thread| thread.thread_variable_set(:fork_safe, true) }
        Timeout.timeout(5) { [200, {}, [Process.pid.to_s]] }
      end)
    RUBY
    await_log(server, /mold ready gen=2/)
  end

  def test_what_is_declared_not_fork_safe_costs_no_worker
    server = refork("Carat.not_fork_safe!(\"librdkafka\")\n#{PID}")
    await_log(server, /did not become the mold worker=1 gen=1 pid=\d+ cause=librdkafka$/)

    assert_nothing_lost(server, attempts: 0)
  end

  def test_a_hook_that_raises_is_told_and_the_mold_stays
    server = refork(PID, config: "before_refork { raise \"broken\" }")
    await_log(server, /did not become the mold .*cause="carat\.rb:1: broken \(RuntimeError\)"$/)

    assert_nothing_lost(server)
  end

  def test_hooks_that_exit_or_raise_whatever_they_like_are_told
    { "before_refork { exit }" => "exit (SystemExit)", "before_refork { raise Exception, %(odd) }" => "odd (Exception)",
      "on_worker_shutdown { raise %(late) }" => "late (RuntimeError)" }.each do |hook, cause|
      server = refork(PID, config: hook)
      await_log(server, /did not become the mold .*cause=\S*\s*"?carat\.rb:1: #{Regexp.escape(cause)}/)

      assert_equal 200, server.get.status
    end
  end

  def test_a_thread_that_the_hook_after_it_starts_is_named
    server = refork(PID, config: "after_refork { Thread.new { sleep } }")
    await_log(server, /mold ready gen=2/)

    await_log(server, /^carat: mold: after_refork: Ruby threads are left running: #<Thread:.*carat\.rb:1/)
  end

  def test_a_worker_that_dies_on_its_way_is_told_and_the_mold_stays
    server = refork(PID, config: 'before_refork { File.write("way", Process.pid); sleep }')
    Process.kill(:KILL, eventually { server.directory.read("way")[/\A\d+/] }.to_i)
    await_log(server, /did not become the mold .*cause="it/)

    assert_nothing_lost(server)
  end

  def test_when_the_old_mold_dies_meanwhile_the_new_one_takes_over
    server = refork(PID, config: 'before_refork { sleep 0.01 until File.exist?("go") }')
    await_log(server, /becomes the next mold/)
    Process.kill(:KILL, server.log[/mold ready gen=1 pid=(\d+)/, 1].to_i)
    await_log(server, /mold died gen=1/)
    server.directory.write("go", "")
    await_log(server, /mold ready gen=2/)

    assert_equal 200, server.get.status
    assert_equal 1, server.children.map { |pid| Support::ProcessTree.title(pid) }.grep(/mold/).size
  end

  private

  # A server whose workers become molds after their first request, asked until one is to.
  def refork(app, args: [], **options)
    server = serve(app, workers: 1, threads: 1, args: ["--refork", "1,1000000", *args], **options)
    ask(server, "GET", "/").read_response
    server
  end

  # The first mold is still there, and so many workers were replaced to be one.
  def assert_nothing_lost(server, attempts: 1)
    statuses = Array.new(20) { server.get.status }
    assert_equal [200], statuses.uniq
    assert_equal attempts, server.log.scan("becomes the next mold").size
    assert_equal attempts, server.log.scan("worker will be replaced").size
    assert_equal 1, server.log.scan("mold ready").size
    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  end
end
