# frozen_string_literal: true

require "test_helper"

class ProcessBootFailureTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'
  # A hook that notes the time, and does what follows until the file "repaired" is there.
  NOTE = 'File.write("boots", "#{Process.clock_gettime(Process::CLOCK_MONOTONIC)}\n", mode: "a")'
  RAISE = "on_worker_boot do\n  #{NOTE}\n  raise \"no database\" unless File.exist?(\"repaired\")\nend\n"
  EXIT = "on_worker_boot do\n  #{NOTE}\n  exit!(0) unless File.exist?(\"repaired\")\nend\n"

  def test_worker_whose_hook_ends_the_process_is_tried_again_with_growing_pauses
    server = boot(EXIT)

    assert_pauses_grow(server)
    await_log(server, / error worker died while booting worker=1 gen=1 pid=\d+ retry_in=0\.25s cause="exit status 0"$/)
    assert_stops(server)
  end

  def test_error_of_a_boot_is_printed_once_with_its_place
    server = boot(RAISE, workers: 2)
    await_log(server, /retry_in=0\.50s/)

    await_log(server,
              / error worker failed to boot worker=\d gen=1 pid=\d+ retry_in=0\.25s #{error(3, "no database")}$/)
    assert_equal 1, server.log.scan("no database").size
    refute_includes server.log, "lib/carat"
    assert_stops(server)
  end

  def test_hook_before_the_fork_that_cannot_load_or_exits_leaves_the_mold_there
    { 'require "no_such_library"' => "cannot load such file -- no_such_library (LoadError)",
      "exit" => "exit (SystemExit)" }.each do |hook, cause|
      server = boot("before_fork { #{hook} unless File.exist?(\"repaired\") }\n")
      await_log(server, /retry_in=0\.50s/)
      server.directory.write("repaired", "")
      await_workers(server, 1)

      await_log(server, /^.* error worker failed to boot worker=1 gen=1 retry_in=0\.25s cause=.*/)
      assert_includes server.log, "carat.rb:1: #{cause}"
      refute_match(/mold died/, server.log)
      assert_stops(server)
    end
  end

  def test_worker_that_can_boot_at_last_serves
    server = server(app: HELLO, config: RAISE)
    ready = server.launch
    await_log(server, /retry_in=/)
    server.directory.write("repaired", "")
    deadline = Support::Eventually.now + Support::Eventually::DEADLINE_SECONDS
    url = Support::DeadlineReader.new(ready).read_to_end(deadline)

    assert_equal "hello", server.connect(url.chomp).get.body
    Process.kill(:KILL, server.workers.fetch(1))
    await_workers(server, 2)
  end

  def test_worker_that_is_not_ready_within_boot_timeout_is_replaced
    server = boot("on_worker_boot { #{NOTE}; sleep }", args: boot_timeout)
    await_log(server, /error worker failed to boot worker=1 gen=1 pid=\d+ retry_in=\S+ cause="not ready within \d+s/,
              within: Support::Server.missed_boot_seconds)
    eventually { server.directory.read("boots").lines.size >= 2 }

    assert_stops(server)
  end

  private

  def boot_timeout
    ["--boot-timeout", Support::Server.ample_boot_seconds.to_s]
  end

  # A server that has started. Its workers need not become ready.
  def boot(config, **options)
    server(app: HELLO, config: config, **options).tap { |server| server.launch.close }
  end

  def error(line, message)
    Regexp.escape("cause=\"carat.rb:#{line}: #{message} (RuntimeError)\"")
  end

  def assert_pauses_grow(server)
    times = eventually { server.directory.read("boots").split.map(&:to_f).then { |all| all if all.size >= 3 } }
    first, second = times.each_cons(2).map { |earlier, later| later - earlier }

    assert_operator first, :>=, 0.25
    assert_operator second, :>=, 0.5
  end

  def assert_stops(server)
    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  end
end
