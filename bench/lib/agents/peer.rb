# frozen_string_literal: true

module Bench
  module Agents
    # The process at the other end of a connection of the loopback.
    module Peer
      module_function

      # Returns what the process is: `mold gen=1`, `worker`, or "unknown" where it cannot be found.
      def role(socket)
        inode = inode(socket.remote_address.ip_port, socket.local_address.ip_port) or return "unknown"
        title(inode)[/mold gen=\d+|worker/] || "unknown"
      rescue SystemCallError
        "unknown"
      end

      def inode(local, remote)
        ports = format(":%<local>04X [0-9A-F]+:%<remote>04X ", local: local, remote: remote)
        File.foreach("/proc/net/tcp").find { |line| line.match?(ports) }&.split&.at(9)
      end

      # The title of the first process of Carat that has the socket.
      def title(inode)
        holder = Dir["/proc/[0-9]*"].find { |process| carat?(process) && holds?(process, "socket:[#{inode}]") }
        holder ? File.read("#{holder}/cmdline") : ""
      end

      def carat?(process)
        File.read("#{process}/cmdline").start_with?("carat: ")
      rescue SystemCallError
        false
      end

      def holds?(process, name)
        Dir["#{process}/fd/*"].any? do |path|
          File.readlink(path) == name
        rescue SystemCallError
          false
        end
      end

      private_class_method :inode, :title, :carat?, :holds?
    end
  end
end
