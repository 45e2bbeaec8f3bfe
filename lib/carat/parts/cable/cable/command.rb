# frozen_string_literal: true

require_relative "../../../application_errors"
require_relative "record"
require_relative "refusals"
require_relative "result"
require_relative "timers"

module Carat
  module Cable
    # What a client asks for over an open socket, or the end of that socket.
    class Command
      # `server` is an ActionCable::Server::Base, `order` what the edge has sent, a Hash.
      def initialize(server, order)
        @server = server
        @order = order
        @result = Result.new
      end

      # Returns Rack's response. If that has no content, the edge carries out nothing of a failed command.
      def response
        in_executor do
          @result.collect { run }
          publish
        end
        @result.response
      rescue *APPLICATION_ERRORS => e
        report(e)
        [500, {}, []]
      end

      private

      # The executor of Rails resets what belongs to one unit of work, and returns database connections. The executor
      # of Action Cable's worker runs within this one, which the records need.
      def in_executor(&block)
        application = ::Rails.application if defined?(::Rails.application)
        application ? application.executor.wrap(&block) : yield
      end

      def run
        return @result.broadcast(*@order.fetch_values("stream", "message")) if broadcasts?

        @connection = Record.connection(@server, @result, @order.fetch("connection"))
        return work { end_connection } if @order.fetch("command") == "close"

        identifier = @order.fetch("identifier")
        Record.subscribe(@connection, identifier, @order["state"]) unless subscribes?
        work { execute }
        keep(Record.channels(@connection)[identifier])
      end

      # An exception that nobody has rescued ends the command, as in Action Cable.
      def work(&block)
        @server.worker_pool.work(@connection, &block)
      rescue *APPLICATION_ERRORS => e
        report(e)
        @result.fail
      end

      # Publishes the broadcasts. When the broker is lost, the client gets its part all the same.
      def publish
        @result.publish
      rescue *APPLICATION_ERRORS => e
        raise if broadcasts?

        report(e)
        @result.fail
      end

      # Rails 7.0 has no callbacks of commands, and timers have none anywhere.
      def execute
        return run_timer if @order["command"] == "timer"

        order = @order.slice("command", "identifier", "data")
        return @connection.handle_channel_command(order) if @connection.respond_to?(:handle_channel_command)

        @connection.subscriptions.execute_command(order)
      end

      def run_timer
        channel = Record.channels(@connection).fetch(@order.fetch("identifier"))
        Timers.run(channel, *@order.fetch_values("timer", "every"))
      end

      def end_connection
        @order.fetch("subscriptions").each do |subscription|
          Record.subscribe(@connection, *subscription.values_at("identifier", "state"))
        rescue *APPLICATION_ERRORS => e
          report(e)
          @result.fail
        end
        @connection.send(:handle_close)
      end

      # `channel` is nil when the command has ended the subscription.
      def keep(channel)
        keep_connection
        return unless channel

        state = Record.of_channel(channel)
        @result[:state] = state unless state == @order["state"]
        @result[:subscription] ||= "pending" if subscribes?
      end

      def keep_connection
        record = Record.of_connection(@connection)
        @result[:connection] = record unless record == @order["connection"]
      end

      # Whether the order is a broadcast: it came over the control socket or with the option `cable_token`, not from a
      # client.
      def broadcasts?
        @order["command"] == "broadcast"
      end

      def subscribes?
        @order["command"] == "subscribe"
      end

      # Logs as much as Action Cable does: clients can make commands fail.
      def report(error)
        place = error.backtrace.to_a.first(5).join(" | ")
        @server.logger.error("There was an exception - #{error.class}(#{error.message}): #{place}")
      end
    end
  end
end
