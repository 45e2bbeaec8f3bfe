# frozen_string_literal: true

require "pty"
require "test_helper"

# A breakpoint in the application: the terminal of the server belongs to the debugger, for as long as somebody thinks.
class DebuggerTest < Support::IntegrationTest
  BREAKPOINT = <<~RUBY
    require "irb"
    run(lambda do |_env|
      answer = 41
      binding.irb
      [200, {}, [answer.to_s]]
    end)
  RUBY
  DEBUGGER = <<~RUBY
    require "debug/prelude"
    run(lambda do |_env|
      debugger
      [200, {}, []]
    end)
  RUBY
  HAS_DEBUG = Gem::Specification.find_all_by_name("debug", ">= 1.7").any? # with debug/prelude
  # As in a shell: the terminal sends the signal of a key to the edge, the mold, and the workers.
  CONTROLLED = ["setsid", "--ctty", *Support::ServerOptions::COMMAND].freeze
  CONTROL_C = "\x03"
  # Otherwise IRB asks the terminal where its cursor is.
  PLAIN = "IRB.conf.update(USE_MULTILINE: false, USE_SINGLELINE: false, USE_COLORIZE: false)"
  CHUNK = 4096

  def setup
    super
    @terminal, @inside = PTY.open
    @seen = +""
  end

  def teardown
    super
    [@terminal, @inside].each(&:close)
  end

  def test_a_breakpoint_reads_from_the_terminal
    server = serve(BREAKPOINT, files: { "irbrc" => PLAIN }, env: { "TERM" => "dumb", "IRBRC" => "irbrc" },
                               spawn: { in: @inside, %i[out err] => @inside })
    client = ask(server, "GET", "/")
    await_output(/irb\(.*\).*> /)
    @terminal.write("answer += 1; answer\n")
    await_output(/=> 42/)
    @terminal.write("exit\n")

    assert_equal "42", client.read_response.body
    assert_equal 0, server.stop.exitstatus
  end

  def test_control_c_at_a_breakpoint_ends_the_server
    server = serve(BREAKPOINT, args: %w[--reload --shutdown-timeout 500],
                               files: { "irbrc" => PLAIN }, env: { "TERM" => "dumb", "IRBRC" => "irbrc" },
                               spawn: { in: @inside, %i[out err] => @inside })
    ask(server, "GET", "/")
    await_output(/irb\(.*\).*> /)

    assert_equal 0, server.stop(signal: :INT).exitstatus
  end

  def test_control_c_in_the_terminal_ends_the_server_at_a_breakpoint
    server = stopped(BREAKPOINT, /irb\(.*\).*> /)
    @terminal.write(CONTROL_C)

    assert_equal 0, server.wait.exitstatus
  end

  def test_control_c_in_the_terminal_ends_the_server_at_a_prompt_of_the_debugger
    skip "the gem debug is not installed, which Ruby bundles" unless HAS_DEBUG

    server = stopped(DEBUGGER, /\(rdbg\) /)
    @terminal.write(CONTROL_C)

    assert_equal 0, server.wait.exitstatus
  end

  private

  # A server that the terminal controls, at a prompt.
  def stopped(app, prompt)
    env = { "TERM" => "dumb", "IRBRC" => "irbrc", "RUBY_DEBUG_NO_RELINE" => "1" }
    server = serve(app, args: %w[--reload --shutdown-timeout 500], command: CONTROLLED, files: { "irbrc" => PLAIN },
                        env:, spawn: { in: @inside, %i[out err] => @inside })
    ask(server, "GET", "/")
    await_output(prompt)
    server
  end

  def await_output(pattern)
    eventually(message: "#{pattern.inspect} in the terminal") do
      chunk = @terminal.read_nonblock(CHUNK, exception: false)
      @seen << chunk if chunk.is_a?(String)
      @seen.match?(pattern)
    end
  rescue Support::Eventually::TooLate
    flunk "the terminal shows #{@seen.inspect}"
  end
end
