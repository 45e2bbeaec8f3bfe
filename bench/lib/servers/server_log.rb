# frozen_string_literal: true

require "json"
require "time"

module Bench
  # What Carat's JSON log says about its processes.
  class ServerLog
    # at: Unix time; fields: the other fields by name.
    Event = Struct.new(:at, :message, :fields) do
      def [](name) = fields[name]
    end

    attr_reader :events

    # Skips the lines that an application wrote.
    def self.parse(text)
      new(text.lines.filter_map do |line|
        fields = JSON.parse(line) if line.start_with?("{") && line.end_with?("}\n")
        Event.new(Time.iso8601(fields.delete("time")).to_f, fields.delete("message"), fields) if fields&.key?("message")
      rescue JSON::ParserError
        nil
      end)
    end

    def initialize(events)
      @events = events
    end

    def since(time) = ServerLog.new(@events.select { |event| event.at >= time })

    # From the first to the last event of a process (one that names a generation), or nil.
    def span
      times = @events.select { |event| event["gen"] }.map(&:at)
      (times.min..times.max) if times.any?
    end

    # When workers became ready.
    def ready_times = named("worker ready").map(&:at)

    # Milliseconds that workers took to become ready.
    def boot_times = named("worker ready").filter_map { |event| event["boot_ms"] }

    # When workers ended as they should.
    def end_times = named("worker ended").map(&:at)

    # Process ids of workers and molds that have been ready.
    def ready_pids = @events.select { |event| event.message.end_with?(" ready") }.map { |event| event["pid"] }

    def count(pattern) = @events.count { |event| pattern.match?(event.message) }

    # Generations of molds after the first.
    def later_generations = @events.filter_map { |event| event["gen"] }.grep(2..).uniq.size

    private

    def named(message) = @events.select { |event| event.message == message }
  end
end
