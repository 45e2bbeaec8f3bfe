# frozen_string_literal: true

require_relative "cable_app"

module Support
  # The application of CableApp, with a broker that is in this process.
  module CableBroker
    include CableApp

    # What the broker hears, and the adapter of config/cable.yml that `through` names.
    module Adapter
      # @return [Array<String>] the channels and messages so far
      def self.messages = @messages ||= []

      def self.define
        require "action_cable/subscription_adapter/inline"
        adapter = Class.new(ActionCable::SubscriptionAdapter::Inline) do
          define_method(:broadcast) do |channel, payload|
            raise IOError, "the broker is gone" if payload.include?("fails")

            Adapter.messages << [channel, payload]
            super(channel, payload)
          end
          # Rails prepends it to some adapters.
          prepend ActionCable::SubscriptionAdapter::ChannelPrefix
        end
        ActionCable::SubscriptionAdapter.const_set(:Ledger, adapter)
        $LOADED_FEATURES << "action_cable/subscription_adapter/ledger.rb"
      end
    end

    def setup
      super
      Adapter.define unless ActionCable::SubscriptionAdapter.const_defined?(:Ledger, false)
      Adapter.messages.clear
      config[:through] = "ledger"
      config[:channel_prefix] = "shop"
    end

    def teardown
      config.delete(:through)
      config.delete(:channel_prefix)
    end

    private

    def config
      ActionCable.server.config.cable
    end

    def broker
      Carat::Cable.broker
    end

    def messages
      Adapter.messages
    end
  end
end
