# frozen_string_literal: true

require_relative "record"
require_relative "refusals"
require_relative "result"
require_relative "signed_streams"
require_relative "socket"

module Carat
  module Cable
    # The request that opens a socket, where the application has mounted ActionCable.server.
    class Handshake
      # `server` is an ActionCable::Server::Base, `env` Rack's environment.
      def initialize(server, env)
        @server = server
        @env = env
        @result = Result.new
      end

      # Returns Rack's response. Raises what `connect` raises.
      def response
        raise Error, "only ActionCable.server can be mounted at the path of `cable`" unless default?

        socket = Socket.new(@server, @result, env: @env)
        @connection = @server.config.connection_class.call.new(@server, socket)
        Refusals.check_connection(@connection.class)
        return [404, { "content-type" => "text/plain; charset=utf-8" }, ["Page not found"]] unless allowed?

        @result.collect { open }
        @result.publish
        @result.response
      end

      private

      def default?
        @server.equal?(::ActionCable.server)
      end

      # Whether the request may come from its origin. In Rails 8.2 the method is the server's; before, it was the
      # connection's, and an application may have overridden it there.
      def allowed?
        return @connection.send(:allow_request_origin?) if @connection.respond_to?(:allow_request_origin?, true)

        @server.allow_request_origin?(@env)
      end

      # Opens the connection and notes its record for the edge. The connection does not stay in this process.
      def open
        @server.worker_pool.work(@connection) { @connection.send(:handle_open) }
        return if @result.closed?

        @result[:connection] = Record.of_connection(@connection)
        key = SignedStreams.key(@connection)
        @result[:turbo] = key if key
      ensure
        @server.remove_connection(@connection)
      end
    end
  end
end
