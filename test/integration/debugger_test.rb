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

  private

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
