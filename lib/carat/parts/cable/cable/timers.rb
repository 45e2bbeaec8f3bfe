# frozen_string_literal: true

require_relative "../cable"

module Carat
  module Cable
    # The timers that a channel declares with `periodically`. The edge runs the timers, and sends a command when one is
    # due.
    module Timers
      # The most timers of a channel. The edge has the same limit.
      LIMIT = 8
      # The shortest interval of a timer, in seconds.
      SHORTEST = 0.1

      module_function

      # Starts the timers of the channel's class, in place of the timers that the edge runs for this subscription.
      def start(channel)
        set(channel, intervals(channel.class)) unless channel.class.periodic_timers.empty?
      end

      # Ends the timers of the subscription.
      def stop(channel)
        set(channel, []) unless channel.class.periodic_timers.empty?
      end

      # Runs the callback of the timer with this number, as Action Cable does. `interval` is the interval that the edge
      # knows. If new code has other timers, the edge gets those, and no callback runs.
      def run(channel, number, interval)
        known = intervals(channel.class)
        return set(channel, known) unless known[number] == interval

        callback, = channel.class.periodic_timers[number]
        channel.instance_exec(&callback)
      end

      def intervals(owner)
        owner.periodic_timers.map { |_, options| (options.fetch(:every) * 1000).round }
      end

      def set(channel, intervals)
        channel.connection.carat_socket.result[:timers] = intervals
      end

      private_class_method :intervals, :set
    end
  end
end
