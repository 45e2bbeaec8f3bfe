# frozen_string_literal: true

require "test_helper"

class HooksTest < Support::IntegrationTest
  # Notes each hook with its arguments, the process and the title it has at that time.
  NOTE = <<~'RUBY'
    note = lambda do |hook, *numbers|
      File.write("hooks", "#{[hook, *numbers].join(" ")} #{Process.pid}\n", mode: "a")
    end
  RUBY
  ALL = <<~RUBY
    #{NOTE}
    on_mold_boot { |*numbers| note.call("on_mold_boot", *numbers) }
    before_fork { |*numbers| note.call("before_fork", *numbers) }
    after_fork { |*numbers| note.call("after_fork", *numbers) }
    on_worker_boot { |*numbers| note.call("on_worker_boot", *numbers) }
    on_worker_shutdown { |*numbers| note.call("on_worker_shutdown", *numbers) }
  RUBY
  HELLO = 'File.write("hooks", "loaded #{Process.pid}\n", mode: "a"); run ->(_env) { [200, {}, ["hello"]] }'

  def test_hooks_run_in_their_order_in_the_right_process
    server = serve(HELLO, config: ALL)
    mold = server.mold
    worker = server.workers.fetch(1)
    server.stop

    assert_equal ["loaded #{mold}", "on_mold_boot #{mold}", "before_fork 1 #{mold}", "after_fork 1 #{worker}",
                  "on_worker_boot 1 #{worker}", "on_worker_shutdown 1 #{worker}"], hooks(server)
  end

  def test_every_worker_gets_its_number
    server = serve(HELLO, config: ALL, workers: 3)
    await_workers(server, 3)
    workers = server.workers
    server.stop

    %w[after_fork on_worker_boot on_worker_shutdown].each do |hook|
      assert_equal workers.map { |number, pid| "#{hook} #{number} #{pid}" }.sort,
                   hooks(server).grep(/\A#{hook} /).sort
    end
    assert_equal 1, hooks(server).grep(/on_mold_boot/).size
  end

  def test_worker_that_leaves_runs_its_last_hook_after_its_last_request
    server = serve(Support::Gate::APP, threads: 1, config: ALL)
    worker = server.workers.fetch(1)
    client = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    Process.kill(:TERM, worker)
    await_workers(server, 2)
    refute_includes hooks(server), "on_worker_shutdown 1 #{worker}"
    server.gate.open
    client.read_response

    eventually { hooks(server).include?("on_worker_shutdown 1 #{worker}") }
  end

  def test_last_hook_runs_though_a_request_outlasts_request_timeout
    server = serve(Support::Gate::APP, threads: 1, config: ALL, args: %w[--request-timeout 300ms])
    worker = server.workers.fetch(1)
    client = ask(server, "GET", "/gate")

    assert_equal 504, client.read_response.status
    await_log(server, /worker ended .*pid=#{worker}/)
    assert_includes hooks(server), "on_worker_shutdown 1 #{worker}"
  end

  def test_hook_that_raises_at_the_end_does_not_keep_the_worker
    server = serve(HELLO, config: 'on_worker_shutdown { raise "too late" }')

    assert_equal 0, server.stop.exitstatus
    assert_includes server.log, "too late"
    await_emptiness(server)
  end

  private

  def hooks(server)
    server.directory.read("hooks").lines(chomp: true)
  end
end
