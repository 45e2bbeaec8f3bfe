# frozen_string_literal: true

require "openssl"
require_relative "raw_client"

module Support
  # A RawClient over TLS.
  class TlsClient < RawClient
    # Connects to the nth listener of a server.
    # @param trust [OpenSSL::X509::Certificate] what must have signed the server's certificate
    # @param name [String] the server's name
    # @param version [Symbol, nil] the only version of TLS, such as :TLS1_2
    # @param session [OpenSSL::SSL::Session, nil] to resume
    # @yield [OpenSSL::SSL::SSLContext, Socket] before the handshake
    def self.connect(server, trust:, name: "localhost", version: nil, session: nil, nth: 0)
      tcp = Socket.tcp(server.host(nth), server.port(nth), connect_timeout: WITHIN)
      tcp.setsockopt(:TCP, :NODELAY, true)
      context = context(trust, version)
      yield context, tcp if block_given?
      ssl = OpenSSL::SSL::SSLSocket.new(tcp, context)
      ssl.sync_close = true
      ssl.hostname = name
      ssl.session = session if session
      new(ssl.tap { shake_hands(ssl) })
    end

    def self.context(trust, version)
      context = OpenSSL::SSL::SSLContext.new
      context.verify_mode = OpenSSL::SSL::VERIFY_PEER
      context.verify_hostname = true
      context.cert_store = OpenSSL::X509::Store.new.tap { |store| store.add_cert(trust) }
      context.min_version = context.max_version = version if version
      context
    end

    def self.shake_hands(ssl)
      deadline = Eventually.now + WITHIN
      while (needed = ssl.connect_nonblock(exception: false)).is_a?(Symbol)
        left = deadline - Eventually.now
        ready = left.positive? && ssl.to_io.public_send(needed, left)
        raise Eventually::TooLate, "the handshake took too long" unless ready
      end
    end

    private_class_method :context, :shake_hands

    # @param socket [OpenSSL::SSL::SSLSocket]
    def initialize(socket)
      super(Waiting.new(socket))
    end

    # @return [OpenSSL::SSL::SSLSocket]
    def ssl
      @socket.ssl
    end

    # An SSLSocket that can be waited for like a socket.
    Waiting = Struct.new(:ssl) do
      def read_nonblock(...)
        ssl.read_nonblock(...)
      end

      def write_nonblock(...)
        ssl.write_nonblock(...)
      end

      def wait_readable(seconds)
        ssl.pending.positive? || ssl.to_io.wait_readable(seconds)
      end

      def wait_writable(seconds)
        ssl.to_io.wait_writable(seconds)
      end

      def close
        ssl.close
      end
    end
    private_constant :Waiting
  end
end
