# frozen_string_literal: true

module Bench
  # How long it takes from the order to fork until a worker of a large application serves.
  module ForkTime
    FORKS = 20
    READY_SECONDS = 20
    # Twice the objects: more than 100 MB.
    ENV = { "BENCH_STOCKS" => "2" }.freeze

    # Kills the worker and waits for the next, again and again. The first boot does not count.
    def self.call(spec, options)
      Server.run(spec.with_env(ENV), File.join(APPS, "weight.ru")) do |server|
        sleep(options.settle)
        processes = server.members_by_role.fetch_values("mold", "worker").flatten
        (options.quick ? FORKS / 5 : FORKS).times { |number| replace(spec, server, number + 1) }
        times = server.log.boot_times.drop(1)
        { pss_mb: Number.mb(processes.sum { |member| member.memory.pss }), forks: times.size,
          median_ms: Statistics.median(times), max_ms: times.max }
      end
    end

    def self.replace(spec, server, number)
      Process.kill(:KILL, server.workers.first)
      server.poll(READY_SECONDS) { server.log.boot_times.size > number } ||
        raise(Failure, "#{spec.name}: no worker after #{READY_SECONDS} s")
    end
    private_class_method :replace

    CASES = [
      Case.new(
        name: "fork_time", title: "From the order to fork until a worker of 100 MB serves", servers: %w[carat-fork],
        measure: method(:call),
        columns: [
          Column.new("PSS MB of mold and workers", :pss_mb, places: 1), Column.new("forks", :forks, over: :sum),
          Column.new("median ms", :median_ms, places: 0),
          Column.new("most ms", :max_ms, over: :max, target: Target.below(100))
        ]
      )
    ].freeze
  end
end
