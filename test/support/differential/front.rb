# frozen_string_literal: true

require "socket"
require_relative "../daemon"

module Support
  module Differential
    # A reverse proxy from Debian in front of Carat. It keeps its connections to Carat and streams bodies, where it can.
    #
    # A subclass gives `PROGRAM`, `STOP`, `configuration` and `arguments`; its access log has a line "STATUS METHOD
    # TARGET VERSION" for each request.
    class Front < Daemon
      ACCESS_LOG = "access.log"
      LINE = %r{^(\d{3}) (\S+) (.+?)(?: HTTP/[\d.]+)? *$}n
      CONFIGURATION = "front.conf"
      # How long it waits for the rest of a request, in seconds.
      PATIENCE = 2
      SEARCHED = "#{ENV.fetch("PATH")}:/usr/sbin"

      # Why it cannot be started here; nil when it can.
      def self.obstacle
        "#{self::PROGRAM} is missing; script/setup installs it" unless program
      end

      def self.program
        SEARCHED.split(":").map { |path| File.join(path, self::PROGRAM) }.find { |path| File.executable?(path) }
      end

      # @return [Integer] its port on 127.0.0.1
      attr_reader :port

      # @param carat [Integer] Carat's port on 127.0.0.1
      def initialize(carat)
        @carat = carat
        @reservation = Socket.new(:INET, :STREAM)
        @port = reserve
        super()
      end

      # Stops it when it has finished its requests, and so logged them: the client knows the end of a response first.
      def stop(signal = self.class::STOP)
        super
      end

      # Its lines of the access log, complete only after it has stopped.
      # @return [Array<(Integer, String, String)>] status, method and target
      def requests
        path = File.join(directory, self.class::ACCESS_LOG)
        File.binread(path).scan(LINE).map { |status, verb, target| [status.to_i, verb, target] }
      end

      private

      # A port that the kernel gives to nobody else as long as the socket is bound. The front may bind it, too: neither
      # socket minds (SO_REUSEADDR), and only one of them listens.
      def reserve
        @reservation.setsockopt(:SOCKET, :REUSEADDR, true)
        @reservation.bind(Addrinfo.tcp("127.0.0.1", 0))
        @reservation.local_address.ip_port
      end

      def prepare
        write(CONFIGURATION, configuration)
      end

      def ready?
        TCPSocket.new("127.0.0.1", port).close
        true
      rescue Errno::ECONNREFUSED
        false
      end

      def program
        self.class.program
      end
    end
  end
end
