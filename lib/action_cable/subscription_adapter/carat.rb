# frozen_string_literal: true

require "carat"

# Action Cable loads an adapter from this path, and looks for its class in this module.
module ActionCable
  # The adapters of Action Cable: the ways to broadcast.
  module SubscriptionAdapter
    # The adapter `carat` of config/cable.yml. The edge keeps the list of subscribers, and sends each broadcast to them.
    class Carat < Base
      prepend ChannelPrefix

      # Sends a payload to all subscribers of a channel. Raises Carat::Cable::Error when the broadcast can reach nobody.
      def broadcast(channel, payload)
        ::Carat::Cable.broadcast(channel, payload)
      end

      # Raises Carat::Cable::Error: broadcasts go to the edge's subscribers, never to a process of the application.
      def subscribe(channel, *)
        raise ::Carat::Cable::Error, "#{channel}: the adapter carat has subscribers only in a server with the option " \
                                     "`cable`, and only by channels"
      end

      # Does nothing: this process has no subscribers.
      def unsubscribe(*); end

      # Does nothing: this process has no subscribers to disconnect.
      def shutdown; end
    end
  end
end
