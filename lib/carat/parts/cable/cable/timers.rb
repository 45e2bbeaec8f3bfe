# frozen_string_literal: true

require_relative "../cable"

module Carat
  module Cable
    # What `periodically` says in a channel: the edge has the timers, and sends a command when one is due.
    module Timers
      # Most timers of a channel. The edge has the same bounds.
      LIMIT = 8
      # Seconds, at least, from one command of a timer to the next.
      SHORTEST = 0.1

      module_function

      # Starts the timers of the channel's class, in the place of those that the edge has for its subscription.
      def start(channel)
        set(channel, intervals(channel.class)) unless channel.class.periodic_timers.empty?
      end

      # Ends the timers of the subscription.
      def stop(channel)
        set(channel, []) unless channel.class.periodic_timers.empty?
      end

      # Does what the timer of this number does, as Action Cable. `interval` is the interval that the edge knows: if
      # new code has other timers, the edge gets these instead.
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
