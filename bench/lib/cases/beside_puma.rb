# frozen_string_literal: true

module Bench
  # Columns that compare Carat with the Puma that has as many workers, in the same round.
  module BesidePuma
    LIKE = "puma-t5-w%d"

    def self.ratio(heading, figure, target)
      Column.new(heading, figure, places: 2, target: target) do |row|
        theirs = row.of(format(LIKE, row.spec.workers))&.values(figure)
        Statistics.ratio(row.values(figure), theirs) if theirs&.any?
      end
    end

    # What a sample tells of the memory after the load.
    def self.memory(server, workers, settle:)
      footprint = Footprint.of(server, settle: settle)
      roles = footprint.roles
      { pss_mb: footprint.pss_mb, share_mb: footprint.pss_mb / workers, roles: roles,
        worker_mb: roles.values.last.last }
    end

    # CPU seconds of the worker that used the least and of the one that used the most.
    def self.cpu(server)
      workers = server.workers
      ProcFs.stats.select { |stat| workers.include?(stat.pid) }.map(&:cpu).minmax
    end

    COLUMNS = [
      Column.new("req/s", :rate, places: 1), ratio("x puma", :rate, Target.at_least(1)),
      Column.new("p50 ms", :p50_ms), Column.new("p99 ms", :p99_ms), Column.new("CPU ms a request", :cpu_ms, places: 1),
      Column.text("CPU s of a worker") { |row| row.values(:worker_cpu).last.map { |cpu| cpu.round(1) }.join("-") },
      Column.new("PSS MB", :pss_mb, places: 1), ratio("x puma", :pss_mb, nil), Column.roles("of that", :roles),
      ratio("PSS of a worker x puma", :worker_mb, Target.at_most(0.5)),
      Column.new("requests", :requests, over: :sum),
      Column.new("failed", :failed, over: :sum, target: Target.at_most(0))
    ].freeze

    # A table of what each worker beyond the second takes, for servers that ran with two and with four.
    def self.further(rows)
      costs = rows.group_by { |row| row.spec.name[/.*(?=-w\d+\z)/] }.filter_map { |name, group| [name, cost(group)] }
      costs = costs.to_h.compact
      cells = costs.map { |name, mb| [name, Number.decimals(mb, 1), cost_ratio(name, mb, costs["puma-t5"])] }
      [Table.new(["server", "PSS MB of each further worker", "x puma"], cells)]
    end

    def self.cost(group)
      few, many = group.sort_by { |row| row.spec.workers }.values_at(0, 1)
      return unless many

      more = Statistics.median(many.values(:pss_mb)) - Statistics.median(few.values(:pss_mb))
      more / (many.spec.workers - few.spec.workers)
    end

    def self.cost_ratio(name, cost, puma)
      return Number::NONE unless puma

      ratio = cost / puma
      text = Number.decimals(ratio, 2)
      name.start_with?("carat") ? Target.at_most(0.5).cell(ratio, text) : text
    end

    private_class_method :cost, :cost_ratio

    SERVERS = [2, 4].flat_map do |workers|
      %w[carat-t5 puma-t5 carat-norefork-t5 jemalloc-puma-t5].map { |name| "#{name}-w#{workers}" }
    end.freeze
  end
end
