# frozen_string_literal: true

require "test_helper"

# What a process of the application runs, and where.
class AppProcessLifeTest < Support::IntegrationTest
  include Support::Told

  OK = "run ->(_env) { [200, {}, []] }"

  def test_a_command_replaces_the_process_and_ends_with_its_group
    server = serve(OK, config: <<~'RUBY')
      process "css", command: "echo sh $$ >> told; sleep 1000 & echo child $! >> told; wait"
    RUBY
    shell, child = await_told(server, 2).map(&:last)

    assert_includes server.processes, child
    assert_equal 0, server.stop.exitstatus
    refute_match(/killing/, server.log)
    assert_empty [shell, child] & server.processes
  end

  def test_the_standard_input_of_a_command_does_not_end
    server = serve(OK, config: <<~'RUBY')
      process "css", command: "ruby -rio/wait -e 'puts(%(input=) + STDIN.wait_readable(0).inspect); STDOUT.flush; sleep'"
    RUBY

    await_log(server, /^input=nil$/)
  end

  def test_a_command_that_is_not_there_is_named
    server = serve(OK, config: 'process "css", command: "no_such_command_anywhere"')

    await_log(server, /process died process=css .*cause=".*No such file or directory - no_such_command_anywhere/)
  end

  def test_it_has_its_environment_its_hooks_and_the_loaded_application
    app = "LOADED = Process.pid; #{OK}"
    server = serve(app, env: { "GONE" => "1" }, config: <<~'RUBY')
      tell = ->(what, number) { File.write("told", "#{what} #{number}\n", mode: "a") }
      on_process_boot { |name| tell.call("boot-#{name}", LOADED) }
      on_process_shutdown { |name| tell.call("shutdown-#{name}", 0) }
      process "jobs", environment: { "QUEUES" => "mail", GONE: nil } do
        tell.call("#{ENV["QUEUES"]}-#{ENV.key?("GONE")}", 0)
        sleep
      end
    RUBY
    assert_equal [["boot-jobs", server.mold], ["mail-false", 0]], await_told(server, 2)

    server.stop
    assert_equal ["shutdown-jobs", 0], told(server).last
  end

  def test_a_hook_that_raises_ends_the_boot_and_is_logged
    server = serve(OK, config: 'on_process_boot { raise "no redis" }; process("jobs") { sleep }')

    await_log(server, /process failed to boot process=jobs .*cause=".*no redis \(RuntimeError\)/)
    assert_equal 200, server.get.status
  end
end
