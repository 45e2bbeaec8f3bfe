# frozen_string_literal: true

require "socket"

# A server for one connection.
module OneConnection
  private

  # Reads a request without a body, sends these bytes and closes; yields the port and the thread.
  def responding(bytes, &)
    serving(->(socket) { socket.readline("\r\n\r\n") && socket.write(bytes) }, &)
  end

  # Returns what the conversation, which gets the socket, returns.
  def serving(conversation)
    listener = TCPServer.new("127.0.0.1", 0)
    served = Thread.new do
      socket = listener.accept
      conversation.call(socket).tap { socket.close }
    end
    yield listener.addr[1], served
    served.value
  ensure
    served.join
    listener.close
  end
end
