# frozen_string_literal: true

require "action_cable/subscription_adapter/base"
require "action_cable/subscription_adapter/channel_prefix"
require "monitor"
require "nats/client"

# Rails looks for the adapter here.
module ActionCable
  module SubscriptionAdapter
    # The adapter `nats` of config/cable.yml, by the gem nats-pure (2.x). The key `url` has the addresses of the servers
    # of a cluster, `nats_options` what NATS.connect takes besides. A connection that is lost is not repaired: the next
    # broadcast opens another, and who has subscribed hears nothing more.
    class Nats < Base
      prepend ChannelPrefix

      # Seconds for which a thread waits for a message before it waits again.
      PATIENCE = 3600
      private_constant :PATIENCE

      def initialize(*)
        super
        @lock = Monitor.new
        @readers = {}
      end

      # Sends a payload, and returns when the server has it. Raises NATS::IO::Error or a SystemCallError otherwise.
      def broadcast(channel, payload)
        connection.then do |nats|
          nats.publish(subject(channel), payload)
          nats.flush
        end
      end

      # Calls `callback` with each payload of a channel, in the order of the server, and `success` once they come.
      def subscribe(channel, callback, success = nil)
        nats = connection
        subscription = nats.subscribe(subject(channel))
        nats.flush
        reader = Thread.new { read(subscription, callback) }
        @lock.synchronize { @readers[[channel, callback]] = [subscription, reader] }
        success&.call
      end

      # Ends a subscription.
      def unsubscribe(channel, callback)
        subscription, reader = @lock.synchronize { @readers.delete([channel, callback]) }
        subscription&.unsubscribe
        reader&.kill
      end

      # Closes the connection.
      def shutdown
        @lock.synchronize { @nats&.close }
      end

      private

      def connection
        @lock.synchronize do
          @nats = nil unless @nats&.connected?
          @nats ||= NATS.connect(config["url"] || "nats://127.0.0.1:4222", reconnect: false, **options)
        end
      end

      def config
        @server.config.cable.to_h.transform_keys(&:to_s)
      end

      def options
        config["nats_options"].to_h.transform_keys(&:to_sym)
      end

      # nats-pure may run the callbacks of one subscription out of order, and does not count what `next_msg` takes.
      def read(subscription, callback)
        loop do
          data = subscription.next_msg(timeout: PATIENCE).data
          subscription.synchronize { subscription.pending_size -= data.size }
          callback.call(data)
        rescue NATS::Timeout
          next
        end
      end

      # A stream may have any name, and a subject has no spaces, wildcards, or empty parts.
      def subject(channel)
        channel.b.gsub(/[^\w:-]/n) { |byte| format("%%%02X", byte.ord) }
      end
    end
  end
end
