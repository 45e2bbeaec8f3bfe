# frozen_string_literal: true

require_relative "../cable"

module Carat
  module Cable
    # The socket of a connection, with the methods of ActionCable::Server::Socket in Rails 8.2. What the connection does
    # with the socket becomes part of a Result.
    class Socket
      # The environment of a connection whose request is over: reading a variable raises NoRequestError. The Hash has no
      # entries for code that only lists them.
      NO_ENV = Hash.new { raise NoRequestError }.freeze
      private_constant :NO_ENV

      # Rack's environment, the Result, the logger with tags, and the subprotocol.
      attr_reader :env, :result, :logger, :protocol

      # `server` is an ActionCable::Server::Base. A socket without `env` was opened by an earlier request, which gave it
      # these `tags` and this `protocol`.
      def initialize(server, result, env: NO_ENV, tags: nil, protocol: nil)
        @server = server
        @result = result
        @env = env
        @logger = proxy.new(server.logger, tags: tags || tags_of_request)
        @protocol = protocol || offered.find { |name| ::ActionCable::INTERNAL[:protocols].include?(name) }
      end

      # Returns the request of the handshake, as Action Cable builds it. Raises NoRequestError when that request is
      # over.
      def request
        raise NoRequestError if @env.equal?(NO_ENV)

        application = ::Rails.application if defined?(::Rails.application)
        @request ||= ::ActionDispatch::Request.new(application ? application.env_config.merge(@env) : @env)
      end

      # Sends a message to the client. A message of a disconnect closes the socket, and the edge writes the message
      # itself.
      def transmit(message)
        return @result.close(*message.values_at(:reason, :reconnect)) if message[:type] == disconnect

        @result.transmit(::ActiveSupport::JSON.encode(message))
      end

      # Closes the socket. Action Cable has sent the reason before, with #transmit.
      def close(*)
        @result.close(nil, true)
      end

      # Whether messages can still be sent.
      def alive?
        !@result.closed?
      end

      # Returns the name of a stream, with the prefix from config/cable.yml if there is one.
      def stream(name)
        prefix = @server.config.cable&.[](:channel_prefix)
        Cable.text([*prefix, name].join(":"), STREAM_LIMIT, "the name of a stream")
      end

      private

      def disconnect
        ::ActionCable::INTERNAL[:message_types][:disconnect]
      end

      # The class of loggers with tags, which Rails 8.2 has moved to another module.
      def proxy
        owner = [::ActionCable::Server, ::ActionCable::Connection].find do |room|
          room.const_defined?(:TaggedLoggerProxy, false)
        end
        owner::TaggedLoggerProxy
      end

      def tags_of_request
        @server.config.log_tags.map { |tag| tag.respond_to?(:call) ? tag.call(request) : tag.to_s.camelize }
      end

      def offered
        return [] if @env.equal?(NO_ENV)

        @env["HTTP_SEC_WEBSOCKET_PROTOCOL"].to_s.split(/ *, */)
      end
    end
  end
end
