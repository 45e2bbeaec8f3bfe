# frozen_string_literal: true

require "socket"
require_relative "../config/options"
require_relative "control_error"

module Carat
  module CLI
    # The control sockets in a directory. Each running server has one in its spool_dir unless `control_socket` names
    # another path.
    class ControlSockets
      NAME = /\A#{Regexp.escape(Config::Options::CONTROL_SOCKET).sub("PID", "(\\\\d+)")}\z/
      private_constant :NAME

      # Only servers of the user `uid` count; for root, all do.
      def initialize(directory, uid: Process.euid)
        @directory = directory
        @uid = uid
      end

      # Returns the path of the control socket of the server with the process id `pid`. Raises ControlError.
      def of(pid)
        running.fetch(pid) do
          raise ControlError, "carat: no server with process id #{pid} has a control socket in #{@directory}; " \
                              "name the socket with --control-socket#{list}"
        end
      end

      # Returns the path of the only control socket. Raises ControlError when there is none, or more than one.
      def only
        case running.size
        when 1 then running.values.first
        when 0 then raise ControlError, "carat: no server of yours has a control socket in #{@directory}; " \
                                        "name the socket with --control-socket"
        else raise ControlError, "carat: several servers are running; choose one with --pid#{list}"
        end
      end

      # Returns a Hash of paths by process id: the sockets on which a server listens. Raises ControlError.
      def running
        @running ||= Dir.children(@directory).sort.filter_map do |name|
          path = File.join(@directory, name)
          [Integer(Regexp.last_match(1), 10), path] if NAME.match(name) && own?(path) && listening?(path)
        end.to_h
      rescue SystemCallError => e
        raise ControlError, "carat: #{@directory}: #{e.message}"
      end

      private

      def list
        ": #{running.keys.join(", ")}" if running.any?
      end

      # Other users may have created files in a shared directory.
      def own?(path)
        stat = File.lstat(path)
        stat.socket? && (@uid.zero? || stat.uid == @uid)
      rescue SystemCallError
        false
      end

      def listening?(path)
        UNIXSocket.open(path, &:itself)
        true
      rescue SystemCallError
        false # a killed server has left its socket behind
      end
    end
  end
end
