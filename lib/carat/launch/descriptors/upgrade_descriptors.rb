# frozen_string_literal: true

require_relative "inherited_descriptors"

module Carat
  module Launch
    # The file descriptors of an edge that takes over from another one: a socket, over which the old edge hands its
    # listeners over. It becomes 3, as in sd_listen_fds(3).
    class UpgradeDescriptors < InheritedDescriptors
      # `addresses` are the values of `bind`; `upgrade` is an Upgrade.
      def initialize(addresses, upgrade)
        super(addresses, nil)
        @upgrade = upgrade
      end

      # Returns the redirections for Process.exec. The old number is closed, or each later process would inherit it.
      def redirections
        { @upgrade.descriptor => :close, FIRST => @upgrade.descriptor }
      end

      # Returns the environment variables that announce the socket to the edge, which keeps the process id `pid`.
      def variables(pid: Process.pid)
        { "LISTEN_FDS" => "1", "LISTEN_PID" => pid.to_s, "LISTEN_FDNAMES" => nil,
          "CARAT_UPGRADE_SOCKETS" => nil }
      end

      # The old edge has checked the sockets.
      def check; end
    end
  end
end
