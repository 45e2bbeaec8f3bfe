# frozen_string_literal: true

require "socket"

module Carat
  module Lab
    module Load
      # The processes of this machine that listen on a port.
      module ListeningProcesses
        TABLES = %w[/proc/net/tcp /proc/net/tcp6].freeze
        LISTENING = "0A"

        # systemd holds the sockets of the services that it starts.
        INIT = 1
        GONE = [Errno::ENOENT, Errno::ESRCH, Errno::EACCES].freeze
        private_constant :TABLES, :LISTENING, :INIT, :GONE

        module_function

        # Whether an address of this machine has this name.
        def local?(host)
          own = Socket.ip_address_list.map(&:ip_address)
          Addrinfo.getaddrinfo(host, nil, nil, :STREAM).any? do |address|
            address.ipv4_loopback? || address.ipv6_loopback? || own.include?(address.ip_address)
          end
        rescue SocketError
          false
        end

        # Returns the process ids, those of which this user may look at the descriptors.
        def of(port)
          sockets = inodes(port).map { |inode| "socket:[#{inode}]" }
          Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).select do |pid|
            pid != INIT && pid != Process.pid && holds?(pid, sockets)
          end
        end

        def inodes(port)
          rows = TABLES.select { |path| File.exist?(path) }.flat_map { |path| File.readlines(path).drop(1) }
          rows.map(&:split).filter_map do |fields|
            fields[9] if fields[3] == LISTENING && fields[1].split(":").last.hex == port
          end
        end

        def holds?(pid, sockets)
          directory = "/proc/#{pid}/fd"
          Dir.children(directory).any? { |name| sockets.include?(target(File.join(directory, name))) }
        rescue *GONE
          false
        end

        def target(link)
          File.readlink(link)
        rescue *GONE
          nil
        end
        private_class_method :inodes, :holds?, :target
      end
    end
  end
end
