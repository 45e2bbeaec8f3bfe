# frozen_string_literal: true

require "carat"

# Rails looks for the adapter here.
module ActionCable
  # Ways to broadcast.
  module SubscriptionAdapter
    # The adapter `carat` of config/cable.yml: the edge of Carat has the subscribers.
    class Carat < Base
      prepend ChannelPrefix

      # Sends a payload to all subscribers of a channel. Raises Carat::Cable::Error when nobody can be reached.
      def broadcast(channel, payload)
        ::Carat::Cable.broadcast(channel, payload)
      end

      # Raises Carat::Cable::Error: a process of the application hears no broadcasts.
      def subscribe(channel, *)
        raise ::Carat::Cable::Error, "#{channel}: the adapter carat has subscribers only in a server with the option " \
                                     "`cable`, and only by channels"
      end

      # Does nothing: there are no subscribers here.
      def unsubscribe(*); end

      # Does nothing, for the same reason.
      def shutdown; end
    end
  end
end
