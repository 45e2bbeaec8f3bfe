# frozen_string_literal: true

require "json"
require "socket"
require_relative "../../config/options"
require_relative "control_client"
require_relative "../command_error"
require_relative "../printable"

module Carat
  module CLI
    # The control sockets of running servers. Each server has its socket in a directory of Launch::ControlDirectories
    # unless `control_socket` names another path.
    class ControlSockets
      NAME = /\A#{Regexp.escape(Config::Options::CONTROL_SOCKET).sub("PID", "(\\\\d+)")}\z/
      REMEDY = "start one, or name the socket with --control-socket"
      # The time that each server has, in seconds, to say where it listens.
      LIST_SECONDS = 1
      private_constant :LIST_SECONDS, :NAME, :REMEDY

      # Counts only servers of the user `uid`, and for root all servers.
      def initialize(directories, uid: Process.euid)
        @directories = directories
        @uid = uid
      end

      # Returns the path of the control socket of the server with the process id `pid`. Raises ControlError.
      def of(pid)
        running.fetch(pid) do
          raise ControlError, "carat: no server of yours has the process id #{pid}; #{REMEDY}#{list}"
        end
      end

      # Returns the path of the only control socket. Raises ControlError when there is none, or more than one.
      def only
        case running.size
        when 1 then running.values.first
        when 0 then raise ControlError, "carat: no server of yours is running; #{REMEDY}"
        else raise ControlError, "carat: several servers are running; choose one with --pid#{list}"
        end
      end

      # Returns the control sockets on which a server listens, as a Hash of paths by process id.
      def running
        @running ||= @directories.flat_map { |directory| running_in(directory) }.sort.to_h
      end

      private

      def list
        running.map { |pid, path| ["\n  #{pid}", *addresses(path), *directory(pid)].join("  ") }.join
      end

      # Returns the addresses on which the server listens, or nil if it does not respond within LIST_SECONDS.
      def addresses(path)
        listeners = JSON.parse(ControlClient.new(path, deadline: LIST_SECONDS).get("/status"))["listeners"]
        Array(listeners).map { |url| Printable.text(url.to_s) }
      rescue ControlError, JSON::ParserError
        nil
      end

      def directory(pid)
        Printable.text(File.readlink("/proc/#{pid}/cwd"))
      rescue SystemCallError
        nil # the process has ended
      end

      def running_in(directory)
        Dir.children(directory).filter_map do |name|
          path = File.join(directory, name)
          [Integer(Regexp.last_match(1), 10), path] if NAME.match(name) && own?(path) && listening?(path)
        end
      rescue SystemCallError
        [] # the directory has gone
      end

      # Whether the socket is of the user: others may have created files in a shared directory.
      def own?(path)
        stat = File.lstat(path)
        stat.socket? && (@uid.zero? || stat.uid == @uid)
      rescue SystemCallError
        false
      end

      def listening?(path)
        socket = Socket.new(:UNIX, :STREAM)
        socket.connect_nonblock(Addrinfo.unix(path))
        true
      rescue Errno::EAGAIN
        true # the server stands still, and its backlog is full of other clients
      rescue SystemCallError
        false # the socket of a killed server, which could not delete it
      ensure
        socket&.close
      end
    end
  end
end
