# frozen_string_literal: true

require_relative "../../config/config_error"

module Carat
  module Launch
    # The file descriptors that the edge inherits. The sockets of `fd://` addresses get the numbers 3, 4, ... in the
    # order of the addresses, as in sd_listen_fds(3). The descriptor of `ready_fd` follows.
    class InheritedDescriptors
      # The number of the first descriptor in sd_listen_fds(3).
      FIRST = 3
      private_constant :FIRST

      # `addresses` are the values of `bind`; `ready` is the value of `ready_fd`, or nil.
      def initialize(addresses, ready)
        @addresses = addresses
        @ready = ready
        @sockets = addresses.filter_map { |address| address[%r{\Afd://(\d+)}, 1]&.to_i }
      end

      # Returns the addresses with the new numbers of the descriptors.
      def addresses
        numbers = (FIRST..).each
        @addresses.map { |address| address.sub(%r{\Afd://\d+}) { "fd://#{numbers.next}" } }
      end

      # Returns the new number of the ready descriptor, or nil. A standard stream keeps its number.
      def ready
        return @ready if @ready.nil? || @ready < FIRST

        FIRST + @sockets.size
      end

      # Returns the redirections for Process.exec. They close the old numbers: a reader of the ready descriptor sees the
      # end of file only when no copy of it is open.
      def redirections
        old = [*@sockets, *@ready].reject { |number| number < FIRST }
        new = (FIRST...(FIRST + old.size)).to_a
        new.zip(old).to_h.merge((old - new).to_h { |number| [number, :close] })
      end

      # Returns the environment variables that announce the sockets to the edge, which keeps the process id `pid`.
      def variables(pid: Process.pid)
        return {} if @sockets.empty?

        { "LISTEN_FDS" => @sockets.size.to_s, "LISTEN_PID" => pid.to_s, "LISTEN_FDNAMES" => nil }
      end

      # Raises ConfigError unless each descriptor is open and each socket listens.
      def check
        @sockets.each { |number| check_socket(number) }
        twice = @sockets.detect { |number| @sockets.count(number) > 1 }
        raise Config::ConfigError, "bind: fd://#{twice} is given twice" if twice
        raise Config::ConfigError, "ready_fd: #{@ready} is a socket of bind" if @sockets.include?(@ready)

        IO.for_fd(@ready, autoclose: false) if @ready
      rescue Errno::EBADF, ArgumentError # ArgumentError: the descriptor is Ruby's own
        raise Config::ConfigError, "ready_fd: #{@ready} is not an open file descriptor"
      end

      private

      def check_socket(number)
        require "socket"
        socket = Socket.for_fd(number)
        socket.autoclose = false
        listens = socket.getsockopt(:SOCKET, :ACCEPTCONN).bool
        raise Config::ConfigError, "bind: fd://#{number} is a socket that does not listen" unless listens
      rescue SystemCallError, ArgumentError
        raise Config::ConfigError, "bind: fd://#{number} is not an open socket"
      end
    end
  end
end
