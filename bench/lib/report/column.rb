# frozen_string_literal: true

module Bench
  # A column of a case's table: one figure of each sample, combined over the rounds.
  class Column
    COMBINE = { median: Statistics.method(:median), min: :min.to_proc, max: :max.to_proc, sum: :sum.to_proc,
                last: :last.to_proc }.freeze

    attr_reader :heading

    # The lowest and the highest figure of all rounds.
    def self.spread(figure, places: nil, heading: "min-max")
      text(heading) { |row| row.values(figure).minmax.map { |value| written(value, places) }.join("-") }
    end

    # The median memory of each kind of process: "edge 2.1, worker 2x 9.4".
    def self.roles(heading, figure, over: nil)
      text(heading) { |row| Footprint.describe(over == :last ? row.values(figure).last(1) : row.values(figure)) }
    end

    # The ratio to a server's figure of the same round. inverse: that server's figure divided by this one's.
    def self.ratio(server, figure, heading: "x #{server}", inverse: false, target: nil)
      new(heading, figure, places: 2, target: target) do |row|
        mine, theirs = row.values(figure), row.of(server)&.values(figure)
        inverse ? Statistics.ratio(theirs, mine) : Statistics.ratio(mine, theirs) if theirs&.any? && mine.any?
      end
    end

    # How much edge and worker grew at their peak, the most of all rounds (see Observation#growth).
    def self.growth(places: 2, edge: nil, worker: nil)
      { "edge +MB" => [:edge_mb, edge], "worker +MB" => [:worker_mb, worker] }.map do |heading, (figure, target)|
        new(heading, figure, over: :max, places: places, target: target)
      end
    end

    # What happened to the requests of a SteadyLoad: none may fail.
    def self.requests(heading = "requests")
      [new(heading, :requests, over: :sum), new("failed", :failed, over: :sum, target: Target.at_most(0))]
    end

    # The block gets a Row and returns what its cell says.
    def self.text(heading, &block) = new(heading, nil, &block)

    def self.written(value, places)
      return value if value.is_a?(String)

      places ? Number.decimals(value, places) : Number.count(value)
    end

    # figure: a key of the samples; over: how rounds are combined; places: decimals, or nil for a whole number; target:
    # a Target or a callable that takes the Row. The block may compute the value from the Row instead.
    def initialize(heading, figure, over: :median, places: nil, target: nil, &value)
      @heading = heading
      @places = places
      @target = target
      @value = value || ->(row) { COMBINE.fetch(over).call(row.values(figure)) if row.values(figure).any? }
    end

    def cell(row)
      value = @value.call(row)
      return Number::NONE if value.nil? || value == ""

      text = Column.written(value, @places)
      target(row)&.cell(value, text) || text
    end

    # What a row says that misses its target, such as "lost jobs 3 (<= 0)"; nil for a row that meets it, or has none.
    def miss(row)
      target = target(row) or return
      value = @value.call(row)
      return "#{heading} without a figure" if value.nil?

      "#{heading} #{Column.written(value, @places)} (#{target})" unless target.met?(value)
    end

    private

    # Targets are for Carat; the other servers are there for comparison.
    def target(row)
      return unless row.spec.carat?

      @target.respond_to?(:call) ? @target.call(row) : @target
    end
  end
end
