# frozen_string_literal: true

module Bench
  # What Carat's log says of its processes. events: ServerEvents.
  class Lifecycle
    def initialize(events)
      @events = events
    end

    # Those after this Unix time.
    def since(time)
      Lifecycle.new(@events.select { |event| event.at >= time })
    end

    # When something happened to a process (its line names the generation) for the first and the last time, or nil.
    def span
      times = @events.select { |event| event["gen"] }.map(&:at)
      (times.min..times.max) if times.any?
    end

    # When workers became ready.
    def readies
      named("worker ready").map(&:at)
    end

    # Milliseconds that workers took to become ready.
    def boots
      named("worker ready").filter_map { |event| event["boot_ms"] }
    end

    # Process ids of workers and molds that have been ready.
    def ready_pids
      @events.select { |event| event.message.end_with?(" ready") }.map { |event| event["pid"] }
    end

    # When workers ended as they should.
    def ends
      named("worker ended").map(&:at)
    end

    # How often a line like this one was written.
    def count(pattern)
      @events.count { |event| pattern.match?(event.message) }
    end

    # Generations of molds after the first.
    def generations
      @events.filter_map { |event| event["gen"] if event["gen"].is_a?(Integer) && event["gen"] > 1 }.uniq.size
    end

    private

    def named(message)
      @events.select { |event| event.message == message }
    end
  end
end
