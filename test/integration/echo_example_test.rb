# frozen_string_literal: true

require "test_helper"
require "rbconfig"
require "socket"

class EchoExampleTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  DEADLINE_SECONDS = 60

  def test_clients_get_back_what_they_send
    IO.popen([RbConfig.ruby, "-Ilib", "examples/echo/echo.rb", "0"], chdir: ROOT) do |server|
      port = Integer(server.gets[/\Aecho on port (\d+)$/, 1], 10)
      clients = Array.new(20) { TCPSocket.new("127.0.0.1", port) }
      clients.each_with_index { |client, number| client.write("#{number} ".ljust(3000, "x")) }
      clients.each_with_index { |client, number| assert_equal "#{number} ".ljust(3000, "x"), client.read(3000) }
      clients.first.close
      clients.last.write("still here")
      assert_equal "still here", clients.last.readpartial(20)
    ensure
      Process.kill(:KILL, server.pid)
    end
  end
end
