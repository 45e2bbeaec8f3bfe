# frozen_string_literal: true

require "json"
require_relative "../cable"
require_relative "refusals"
require_relative "socket"
require_relative "values"

module Carat
  module Cable
    # The records that the edge keeps between two commands. The record of a connection has the tags of its logger, its
    # subprotocol, and its instance variables, among which are the identifiers. The record of a channel has its instance
    # variables. Variables that begin with `@_` are not kept.
    module Record
      # The most bytes of one record.
      LIMIT = 4096

      # The instance variables that Action Cable itself sets, from Rails 7.0 to 8.2.
      OF_CONNECTION = %i[@server @env @coder @worker_pool @logger @websocket @socket @subscriptions @message_buffer
                         @started_at @protocol @request @connection_identifier].freeze
      OF_CHANNEL = %i[@connection @identifier @params @defer_subscription_confirmation_counter
                      @subscription_confirmation_sent @unsubscribed @active_periodic_timers @parameter_filter].freeze
      private_constant :OF_CONNECTION, :OF_CHANNEL

      module_function

      # Returns the record of a connection, a String. Raises Error when a variable cannot be kept.
      def of_connection(connection)
        socket = connection.carat_socket
        generate(connection, { "t" => socket.logger.tags, "p" => socket.protocol,
                               "v" => variables(connection, OF_CONNECTION) }.compact)
      end

      # Returns a connection made from its record. Its actions, such as messages to the client, become part of `result`.
      def connection(server, result, record)
        record = JSON.parse(record)
        socket = Socket.new(server, result, tags: record.fetch("t"), protocol: record["p"])
        connection = server.config.connection_class.call.new(server, socket)
        assign(connection, record.fetch("v"))
      end

      # Returns the record of a channel: a String, or nil when there is nothing to keep. Raises Error as of_connection
      # does.
      def of_channel(channel)
        kept = variables(channel, OF_CHANNEL)
        waits = channel.instance_variable_get(:@defer_subscription_confirmation_counter).value
        kept["waits"] = waits unless channel.send(:subscription_confirmation_sent?)
        generate(channel, kept) unless kept.empty?
      end

      # Makes a channel from its record, and adds it to the channels to which the connection has subscribed.
      def subscribe(connection, identifier, record)
        kept = record ? JSON.parse(record) : {}
        waits = kept.delete("waits")
        channel = assign(channel(connection, identifier), kept)
        channel.instance_variable_set(:@subscription_confirmation_sent, true) unless waits
        channel.instance_variable_get(:@defer_subscription_confirmation_counter).value = waits.to_i
        channels(connection)[identifier] = channel
      end

      # Returns the channels to which a connection has subscribed, by identifier.
      def channels(connection)
        connection.subscriptions.send(:subscriptions)
      end

      def channel(connection, identifier)
        params = ::ActiveSupport::JSON.decode(identifier).with_indifferent_access
        channel_class = params[:channel].to_s.safe_constantize
        unless channel_class.is_a?(Class) && channel_class < ::ActionCable::Channel::Base
          raise Error, "there is no channel #{params[:channel].inspect} any more"
        end

        channel_class.new(connection, identifier, params)
      end

      def assign(object, kept)
        kept.each { |name, value| object.instance_variable_set(name, Values.load(value)) }
        object
      end

      def variables(object, internal)
        names = object.instance_variables.reject { |name| internal.include?(name) || name.start_with?("@_") }
        names.to_h { |name| [name.to_s, value(object, name)] }.compact
      end

      def value(object, name)
        Values.dump(object.instance_variable_get(name))
      rescue Error => e
        raise Error, "#{object.class}: #{name} #{e.message}, which cannot be kept between two commands: look it up " \
                     "in each, in a variable whose name begins with @_"
      end

      def generate(object, kept)
        text = JSON.generate(kept)
        return text if text.bytesize <= LIMIT

        raise Error, "#{object.class}: the instance variables have #{text.bytesize} bytes, and #{LIMIT} can be kept"
      end

      private_class_method :channel, :assign, :variables, :value, :generate
    end
  end
end
