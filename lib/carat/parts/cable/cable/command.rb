# frozen_string_literal: true

require_relative "../../../application_errors"
require_relative "record"
require_relative "refusals"
require_relative "result"
require_relative "timers"

module Carat
  module Cable
    # A command that a client sends over an open socket, a timer, a broadcast, or the close of a socket.
    class Command
      # `server` is an ActionCable::Server::Base, and `order` the Hash that the edge has sent.
      def initialize(server, order)
        @server = server
        @order = order
        @result = Result.new
      end

      # Returns Rack's response. An empty 500 response means that the command failed, and that the edge carries out no
      # part of it.
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

      # Runs the block in the executor of Rails, which resets the state of a unit of work and returns database
      # connections. Action Cable's worker pool has its own executor, which is inside of this one: reading the records
      # needs an executor, too.
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

      # Runs the block in Action Cable's worker pool. An exception that nobody has rescued ends the command, as in
      # Action Cable.
      def work(&block)
        @server.worker_pool.work(@connection, &block)
      rescue *APPLICATION_ERRORS => e
        report(e)
        @result.fail
      end

      # Publishes the broadcasts. When the broker is lost, only the broadcasts fail: the client still gets the messages
      # for it.
      def publish
        @result.publish
      rescue *APPLICATION_ERRORS => e
        raise if broadcasts?

        report(e)
        @result.fail
      end

      # Executes the client's command. Rails 7.0 has no callbacks around commands, and no Rails has them around timers.
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

      # Keeps what the command has changed. `channel` is nil when the command has ended the subscription.
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

      # Whether the order is a broadcast, which comes over the control socket or with the option `cable_token`, not from
      # a client.
      def broadcasts?
        @order["command"] == "broadcast"
      end

      def subscribes?
        @order["command"] == "subscribe"
      end

      # Logs no more than Action Cable does, because clients can make commands fail.
      def report(error)
        place = error.backtrace.to_a.first(5).join(" | ")
        @server.logger.error("There was an exception - #{error.class}(#{error.message}): #{place}")
      end
    end
  end
end
