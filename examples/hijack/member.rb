# frozen_string_literal: true

require "websocket/driver"

# One WebSocket. websocket-driver speaks the protocol, and Carat passes on the bytes.
class Member
  # Bytes that may wait for a member who does not read.
  UNSENT_LIMIT = 64 * 1024

  attr_reader :env, :url, :socket

  def initialize(env)
    @env = env
    @url = "ws://#{env["HTTP_HOST"]}#{env["PATH_INFO"]}"
    @socket = env["rack.hijack"].call
    @unsent = "".b
    @driver = WebSocket::Driver.rack(self, max_length: 4096)
  end

  # Yields each message.
  def start(&)
    @driver.on(:message) { |event| yield(event.data) }
    @driver.on(:close) { @is_over = true }
    @driver.start
  end

  def send_text(text)
    @driver.text(text)
  end

  # Takes what the browser has sent. Returns false once nothing follows.
  def receive
    bytes = @socket.read_nonblock(16_384, exception: false)
    @driver.parse(bytes) if bytes.is_a?(String)
    !bytes.nil? && !@is_over
  rescue SystemCallError
    false
  end

  # Called by the driver with bytes for the browser.
  def write(bytes)
    @unsent << bytes
    flush
  end

  # Sends what the browser takes. Returns false when the browser is gone, or too slow.
  def flush
    until @unsent.empty?
      sent = @socket.write_nonblock(@unsent, exception: false)
      break if sent == :wait_writable

      @unsent = @unsent.byteslice(sent..)
    end
    @is_over = true if @unsent.bytesize > UNSENT_LIMIT
    !@is_over
  rescue SystemCallError
    !(@is_over = true)
  end

  def unsent?
    !@unsent.empty?
  end

  def over?
    @is_over
  end

  def close
    @socket.close
  end
end
