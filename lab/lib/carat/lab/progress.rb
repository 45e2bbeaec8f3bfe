# frozen_string_literal: true

module Carat
  module Lab
    # One line about what is going on, and how long it will take; silent where there is no terminal.
    class Progress
      # Seconds between two lines.
      INTERVAL = 0.1
      CLEAR = "\r\e[K"
      private_constant :CLEAR

      # `out` is an IO.
      def initialize(out)
        @out = out
        @shown = -INTERVAL
      end

      # Begins a step with a name.
      def step(name)
        @name = name
        @began = now
        show(0)
      end

      # Shows that a share of the step, from 0 to 1, is done.
      def advance(share)
        show(share) if now - @shown >= INTERVAL
      end

      # Shows how long a step has taken whose end nobody knows.
      def tick
        return unless @out.tty?

        @out.print(format("%s%s: %d s", CLEAR, @name, now - @began))
        @out.flush
      end

      # Removes the line.
      def clear
        @out.print(CLEAR) if @out.tty?
        @out.flush
      end

      private

      def show(share)
        return unless @out.tty?

        @shown = now
        @out.print("#{CLEAR}#{@name}#{remaining(share)}")
        @out.flush
      end

      def remaining(share)
        return "" unless share.positive? && now - @began > 1

        format(": %d %%, %d s left", share * 100, ((now - @began) / share * (1 - share)).ceil)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
