# frozen_string_literal: true

require_relative "inherited_descriptors"

module Carat
  module Launch
    # The file descriptors that a new edge inherits from the old one in `carat upgrade`: the old edge's listeners, and
    # the socket between the two edges. They get the numbers 3, 4, ..., as in sd_listen_fds(3).
    class UpgradeDescriptors < InheritedDescriptors
      # `addresses` are the values of `bind`; `upgrade` is an Upgrade.
      def initialize(addresses, upgrade)
        super(upgrade.descriptors.map { |number| "fd://#{number}" }, nil)
        @bind = InheritedDescriptors.new(addresses, nil).addresses
      end

      # Returns the addresses. Sockets of a service manager have the numbers that they had in the old edge.
      def addresses
        @bind
      end

      # Does nothing: the old edge has checked the sockets.
      def check; end
    end
  end
end
