# frozen_string_literal: true

require "net/http"

module Bench
  # A program that makes many requests with Net::HTTP, each on a connection of its own (see ClientProcess).
  class NetHttpClient
    BODY = "Hello, World!"
    # What is loaded on first use is not measured.
    WARMUP_REQUESTS = 5
    WAYS = { "ruby-blocking" => :one_by_one, "ruby-threads" => :in_threads, "carat-run" => :in_fibers,
             "async" => :in_tasks }.freeze

    def initialize(port)
      @origin = "http://127.0.0.1:#{port}"
    end

    # Makes the requests in one of the WAYS. Returns the seconds that they take, how many responses are right, and how
    # far resident memory rises.
    def run(way:, path:, number:)
      prepare(way)
      make(way, WARMUP_REQUESTS, "/")
      GC.start
      before = memory("VmRSS")
      reset_peak
      started = Bench.now
      right = make(way, number, path)
      { seconds: Bench.now - started, right: right, growth_mb: memory("VmHWM") - before }
    end

    private

    def prepare(way)
      case WAYS.fetch(way)
      when :in_fibers
        require_relative "../../../lib/carat"
      when :in_tasks
        gem "async", ">= 2"
        require "async"
      end
    end

    def make(way, number, path)
      uri = URI(@origin + path)
      right = 0
      send(WAYS.fetch(way), number) { right += 1 if Net::HTTP.get(uri) == BODY }
      right
    end

    def one_by_one(number, &) = number.times(&)

    def in_threads(number, &block) = Array.new(number) { Thread.new(&block) }.each(&:join)

    def in_fibers(number, &block) = Carat.run { number.times { Fiber.schedule(&block) } }

    def in_tasks(number, &block) = Async { |task| number.times { task.async { block.call } } }

    # From here on VmHWM is the new peak.
    def reset_peak = File.write("/proc/self/clear_refs", "5")

    # MB of 2**20 bytes.
    def memory(name) = File.read("/proc/self/status")[/^#{name}:\s+(\d+) kB$/, 1].to_i / 1024.0
  end
end
