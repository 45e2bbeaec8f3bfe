# frozen_string_literal: true

module Carat
  # Action Cable whose sockets the edge keeps (option `cable`). Handshakes and commands run as short requests, and
  # broadcasts go to the edge, which sends them to the subscribers.
  module Cable
    autoload :Broker, File.join(__dir__, "cable/servers/broker.rb")
    autoload :Endpoint, File.join(__dir__, "cable/endpoint.rb")
    autoload :Installation, File.join(__dir__, "cable/installation.rb")
    autoload :Relay, File.join(__dir__, "cable/servers/relay.rb")
    autoload :Result, File.join(__dir__, "cable/result.rb")
    autoload :ServerSocket, File.join(__dir__, "cable/server_socket.rb")
    private_constant :Broker, :Endpoint, :Installation, :Relay, :Result, :ServerSocket

    # The variable that is true in the environment of requests that a part of the edge makes, such as the commands of
    # sockets. No client can set it.
    FLAG = "carat.part"

    # The environment variable that names the server's control socket, for programs that the server has not forked. Its
    # value is that of the option `control_socket`.
    SOCKET_VARIABLE = "CARAT_CONTROL_SOCKET"
    # The most bytes in the name of a stream.
    STREAM_LIMIT = 1024
    # The most bytes in one broadcast.
    PAYLOAD_LIMIT = 1024 * 1024

    # A channel or a connection does something that is not possible with the option `cable`. The message names the
    # remedy.
    class Error < StandardError
    end

    # A command uses the request that opened its socket, which is over.
    class NoRequestError < Error
      # `message` names the remedy.
      def initialize(message = "the request that opened the socket is over: keep what a command needs from it in " \
                               "`connect`, as an identifier or in an instance variable of the connection")
        super
      end
    end

    class << self
      # Sets how broadcasts of this process reach the edge, its parent: `control` has the method `broadcast` of
      # Parts::Cable::Streams. `configuration` is the server's.
      def join(control, configuration)
        return unless configuration[:cable]

        @control = control
        @pid = Process.pid
        @edge = Process.ppid
        @server_path = configuration[:control_socket]
      end

      # Returns the path of the server's control socket, or nil.
      def server_path
        @server_path ||= ENV.fetch(SOCKET_VARIABLE, nil) || (ServerSocket.find(@edge) if @edge)
      end

      # Sends `payload`, JSON, to all subscribers of `stream`. Within a command of a socket, the broadcast goes out when
      # the command has ended. Raises Error when `payload` or `stream` is too long. With a broker, raises what its
      # adapter raises; without one, raises Error outside of a server with the option `cable`.
      def broadcast(stream, payload)
        stream = text(stream, STREAM_LIMIT, "the name of a stream")
        payload = text(payload, PAYLOAD_LIMIT, "a broadcast")
        result = Result.current
        return result.broadcast(stream, payload) if result
        return broker.broadcast(stream, payload) if broker
        return if control.broadcast(stream, payload)

        raise Error, "the server did not take a broadcast to #{stream.inspect}"
      end

      # Returns the Broker that connects several servers, or nil when config/cable.yml has no key `through`.
      def broker
        Broker.current if defined?(::ActionCable.server)
      end

      # Passes the broadcasts of all servers from the broker to the edge, until a signal ends the process. This is the
      # block of the process "cable". Raises Error, or what the broker's adapter raises, when the broker is lost.
      def relay
        raise Error, "config/cable.yml names no broker: add the key through, such as through: redis" unless broker

        Relay.new(broker, control, @edge).run
      end

      # Prepares Action Cable for clients that reach it at `path`, with the `prefix` or without. Returns a Rack
      # application that runs the commands of sockets and passes all other requests on to `app`. `processes` are the
      # processes of the config file. Raises ConfigError when the application cannot run with the option `cable`.
      def install(app, path, processes = {}, prefix: "")
        @path = path.sub(%r{\A#{Regexp.escape(prefix)}(?=/)}, "")
        Installation.new(@path, processes).run
        Endpoint.new(app)
      end

      # The path at which the application has mounted ActionCable.server.
      attr_reader :path

      # Returns `string` as UTF-8; raises Error when it is not UTF-8, or longer than `limit` bytes.
      def text(string, limit, name)
        string = string.to_s
        raise Error, "#{name} has #{string.bytesize} bytes, and may have #{limit}" if string.bytesize > limit

        utf8 = string.encoding == Encoding::UTF_8 ? string : string.dup.force_encoding(Encoding::UTF_8)
        utf8.valid_encoding? ? utf8 : raise(Error, "#{name} is not UTF-8")
      end

      private

      def control
        return @control if @control && @pid == Process.pid
        return ServerSocket.new(server_path) if server_path

        raise Error, "this process does not belong to a server with the option `cable`, so nobody can be reached: " \
                     "use `carat run`, or name the control socket in #{SOCKET_VARIABLE}"
      end
    end
  end
end
