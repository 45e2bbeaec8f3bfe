# frozen_string_literal: true

require "net/http"

module Bench
  # Makes many requests by Net::HTTP, each on a connection of its own: a program of its own (see ClientProcess).
  class NetHttpClient
    BODY = "Hello, World!"
    # What is loaded when it is first needed, is not measured.
    WARMUP_REQUESTS = 5
    WAYS = { "ruby-blocking" => :one_by_one, "ruby-threads" => :in_threads, "carat-run" => :in_fibers,
             "async" => :in_tasks }.freeze

    def initialize(port)
      @origin = "http://127.0.0.1:#{port}"
    end

    # Makes the requests in one of the WAYS. Gives the seconds that they take, how many answers are right, and how many
    # bytes the most memory is above that before the first of them.
    def run(way:, path:, number:)
      prepare(way)
      make(way, WARMUP_REQUESTS, "/")
      GC.start
      before = memory("VmRSS")
      begin_peak
      began = now
      right = make(way, number, path)
      { seconds: now - began, right: right, bytes: memory("VmHWM") - before }
    end

    private

    def prepare(way)
      case WAYS.fetch(way)
      when :in_fibers
        require_relative "../../lib/carat"
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

    def one_by_one(number, &)
      number.times(&)
    end

    def in_threads(number, &block)
      Array.new(number) { Thread.new(&block) }.each(&:join)
    end

    def in_fibers(number, &block)
      Carat.run { number.times { Fiber.schedule(&block) } }
    end

    def in_tasks(number, &block)
      Async { |task| number.times { task.async { block.call } } }
    end

    # From here on VmHWM is the most that there has been.
    def begin_peak
      File.write("/proc/self/clear_refs", "5")
    end

    # Bytes.
    def memory(name)
      File.read("/proc/self/status")[/^#{name}:\s+(\d+) kB$/, 1].to_i * 1024
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
