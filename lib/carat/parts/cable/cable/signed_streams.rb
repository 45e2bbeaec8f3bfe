# frozen_string_literal: true

require_relative "../cable"

module Carat
  module Cable
    # The names of Turbo's streams, which the application has signed in its pages. With the key, the edge verifies the
    # names itself, so that a page of Turbo Streams causes no command. For a name that the edge cannot verify, it asks
    # the application.
    module SignedStreams
      CHANNEL = "Turbo::StreamsChannel"
      # The methods that a channel of the application might override, with the name of the class that defines them in
      # Rails.
      METHODS = { subscribed: CHANNEL, unsubscribed: "ActionCable::Channel::Base",
                  subscribe_to_channel: "ActionCable::Channel::Base" }.freeze
      # The callbacks that Action Cable itself sets.
      CALLBACKS = %i[start_periodic_timers stop_periodic_timers stop_all_streams].freeze
      private_constant :CHANNEL, :METHODS, :CALLBACKS

      module_function

      # Returns what the edge needs to verify names, a Hash. Returns nil without Turbo, and when a subscription runs
      # more code than that of Turbo itself.
      def key(connection)
        return unless Object.const_defined?(CHANNEL) && plain?(::Turbo::StreamsChannel, connection.class)

        verifier = ::Turbo.signed_stream_verifier
        return unless verifier.instance_of?(::ActiveSupport::MessageVerifier) && digest(verifier) == "SHA256"

        { key: verifier.instance_variable_get(:@secret).unpack1("H*"), prefix: connection.carat_socket.stream("") }
      end

      def plain?(channel, connection)
        METHODS.all? { |name, owner| channel.instance_method(name).owner.name == owner } &&
          channel.method(:verified_stream_name).owner == ::Turbo::Streams::StreamName &&
          callbacks(channel, :subscribe, :unsubscribe).all? { |callback| rails?(callback) } &&
          callbacks(connection, :command).empty?
      end

      # The callbacks with these names. Rails 7.0 has none for `:command`.
      def callbacks(class_, *names)
        class_.__callbacks.values_at(*names).compact.flat_map(&:to_a).map(&:filter)
      end

      # Whether Action Cable itself sets the callback: one of CALLBACKS, or the Proc for the executor of Rails.
      def rails?(callback)
        CALLBACKS.include?(callback) ||
          (callback.is_a?(Proc) && callback.source_location.first.start_with?("#{::ActionCable::Engine.root}/"))
      end

      def digest(verifier)
        verifier.instance_variable_get(:@digest)
      end
      private_class_method :plain?, :callbacks, :rails?, :digest
    end
  end
end
