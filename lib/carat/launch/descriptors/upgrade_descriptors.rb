# frozen_string_literal: true

require_relative "inherited_descriptors"

module Carat
  module Launch
    # The file descriptors of an edge that takes over from another one: the listeners of the old edge, and the socket
    # between the two. They become 3, 4, ..., as in sd_listen_fds(3).
    class UpgradeDescriptors < InheritedDescriptors
      # `addresses` are the values of `bind`; `upgrade` is an Upgrade.
      def initialize(addresses, upgrade)
        super(upgrade.descriptors.map { |number| "fd://#{number}" }, nil)
        @bind = InheritedDescriptors.new(addresses, nil).addresses
      end

      # Returns the addresses with the numbers that the sockets of a service manager had in the old edge.
      def addresses
        @bind
      end

      # The old edge has checked the sockets.
      def check; end
    end
  end
end
