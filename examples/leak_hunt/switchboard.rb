# frozen_string_literal: true

require_relative "connection"
require_relative "connection_log"
require_relative "protocol"

# A server of connections: it opens one for each request, extends it with the protocol that it speaks, and registers it
# until it is closed. It forgets to remove closed ones. `without` names parts to leave out: log, protocol, registry.
class Switchboard
  def initialize(without: [], repaired: false)
    @without = without
    @repaired = repaired
    @log = ConnectionLog.new
    @registry = {}
    @count = 0
  end

  def call(env)
    connection = open(env["PATH_INFO"])
    body = connection.respond
    close(connection)
    [200, { "content-type" => "text/plain" }, [body]]
  end

  private

  def open(path)
    connection = Connection.new(@count += 1, path)
    connection.extend(Protocol) if with?("protocol")
    @registry[connection.number] = connection if with?("registry")
    @log.add("open #{connection.number}") if with?("log")
    connection
  end

  def close(connection)
    @log.add("close #{connection.number}") if with?("log")
    @registry.delete(connection.number) if @repaired
  end

  def with?(part)
    !@without.include?(part)
  end
end
