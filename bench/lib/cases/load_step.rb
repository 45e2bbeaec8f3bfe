# frozen_string_literal: true

module Bench
  # One connection, many, and one again: workers come with the load and go after it.
  class LoadStep
    # How many workers there may be.
    MOST = 8
    CALM_SECONDS = 3
    # Until the last worker has ended, when one ends in each idle time.
    SHRINK_SECONDS = 90

    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "weight.ru")) { |server| new(spec, server, options).sample }
    end

    def initialize(spec, server, options)
      @spec = spec
      @server = server
      @options = options
    end

    # The load with many connections lasts twice the duration: it takes some time until all workers are there.
    def sample
      await_one_worker
      first = load(1, CALM_SECONDS).finish
      calm = footprint
      many = load(@options.connections, @options.duration * 2)
      top = at_the_top
      many = many.finish
      stepped_back = Time.now.to_f
      last = load(1, CALM_SECONDS)
      await_one_worker
      back = footprint
      { **memory(calm, top, back), **latencies(first, many, last.finish), **times(many.started, stepped_back) }
    end

    private

    def load(connections, seconds) = SteadyLoad.start(@server, "/wait", connections: connections, seconds: seconds)

    def footprint = Footprint.of(@server, settle: @options.settle)

    def await_one_worker
      @server.poll(SHRINK_SECONDS) { @server.workers.size <= @spec.workers }
    end

    # Under load, once all workers are there or their time is up.
    def at_the_top
      @server.poll(@options.duration) { @server.workers.size >= MOST }
      Footprint.of(@server)
    end

    def memory(calm, top, back)
      { top_workers: top.count("worker"), back_workers: back.count("worker"), calm_mb: calm.pss_mb, top_mb: top.pss_mb,
        back_mb: back.pss_mb, ratio: back.pss.fdiv(calm.pss) }
    end

    def latencies(*reports)
      calm, many, back = reports.map(&:p99_ms)
      { calm_p99_ms: calm || 0, many_p99_ms: many || 0, back_p99_ms: back || 0, requests: reports.sum(&:requests),
        failed: reports.sum(&:failed) }
    end

    # Seconds until the last worker that came was ready, and until the last one that was too many had ended.
    def times(step, stepped_back)
      log = @server.log
      grown = log.since(step).ready_times.select { |at| at < stepped_back }.max
      shrunk = log.since(stepped_back).end_times.max
      { grown: grown && (grown - step), shrunk: shrunk && (shrunk - stepped_back) }
    end

    CASES = [
      Case.new(
        name: "load_step", title: "From one connection to 64, and back", servers: %w[carat-elastic],
        measure: method(:call), needs: SteadyLoad.method(:obstacle),
        columns: [
          Column.new("workers at the top", :top_workers, over: :min, target: Target.at_least(MOST)),
          Column.new("grown in s", :grown, over: :max, places: 2, target: Target.at_most(1)),
          Column.new("p99 ms with one", :calm_p99_ms, places: 1), Column.new("with all", :many_p99_ms, places: 1),
          Column.new("afterwards", :back_p99_ms, places: 1), Column.new("shrunk after s", :shrunk, places: 1),
          Column.new("workers then", :back_workers, over: :max), Column.new("PSS MB before", :calm_mb, places: 1),
          Column.new("at the top", :top_mb, places: 1), Column.new("after", :back_mb, places: 1),
          Column.new("after x before", :ratio, places: 2, target: Target.at_most(1.1)),
          *Column.requests
        ]
      )
    ].freeze
  end
end
