# frozen_string_literal: true

require "carat"
require "socket"

reactor = Carat::Reactor.new { |error| warn error.full_message }
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, "7007"), 10))
puts "echo on port #{server.addr[1]}"
$stdout.flush

reactor.attach(:read, server) do
  client = server.accept
  reactor.attach(:read, client) do
    client.write(client.readpartial(4096))
  rescue EOFError, Errno::ECONNRESET
    client.close
  end
end
reactor.run
