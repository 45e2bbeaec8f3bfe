# frozen_string_literal: true

require "websocket/driver"

# Repeats the messages of one WebSocket, in a thread of its own.
class Echo
  # Autobahn sends up to 16 MiB.
  LONGEST = 64 * 1024 * 1024

  attr_reader :env, :url

  def initialize(env)
    @env = env
    @url = "ws://#{env["HTTP_HOST"]}/"
    @socket = env["rack.hijack"].call
    @driver = WebSocket::Driver.rack(self, max_length: LONGEST)
    @driver.on(:message) { |event| repeat(event.data) }
    @driver.on(:close) { @is_over = true }
  end

  def run
    @driver.start
    @driver.parse(@socket.readpartial(65_536)) until @is_over
  rescue EOFError, SystemCallError
    # The client is gone.
  ensure
    @socket.close
  end

  # Called by the driver.
  def write(bytes)
    @socket.write(bytes)
  end

  private

  def repeat(data)
    data.is_a?(String) ? @driver.text(data) : @driver.binary(data)
  end
end

run(lambda do |env|
  next [200, {}, ["Here is a WebSocket\n"]] unless WebSocket::Driver.websocket?(env)

  echo = Echo.new(env)
  Thread.new { echo.run }
  [-1, {}, []]
end)
