# frozen_string_literal: true

module Bench
  # What `carat leak` costs the requests between two censuses: hello world with its probe and without, in turn.
  module LeakCost
    ROUNDS = 9
    PROBE = "/carat-leak-probe"
    CENSUS = "#{PROBE}?census".freeze

    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "hello.ru")) do |plain|
        Server.run(spec.with_env("BENCH_PROBE" => PROBE), File.join(APPS, "probed.ru")) do |probed|
          compare(plain, probed, options)
        end
      end
    end

    def self.compare(plain, probed, options)
      loads = { plain => Wrk.new(plain, options).warm_up, probed => Wrk.new(probed, options).warm_up }
      rounds = Array.new(ROUNDS) do |round|
        HttpClient.get(probed.port, CENSUS)
        [plain, probed].rotate(round).to_h { |server| [server, measure(loads.fetch(server))] }
      end
      { plain: cost(rounds, plain), probed: cost(rounds, probed),
        ratio: Statistics.median(rounds.map { |round| round.fetch(plain).first / round.fetch(probed).first }),
        errors: rounds.sum { |round| round.values.sum(&:last) } }
    end
    private_class_method :compare

    # CPU microseconds of all processes a request, and errors.
    def self.measure(wrk)
      report = wrk.run
      [report.cost * 1e6, report.errors]
    end
    private_class_method :measure

    def self.cost(rounds, server) = Statistics.median(rounds.map { |round| round.fetch(server).first })
    private_class_method :cost

    CASES = [
      Case.new(
        name: "leak-cost", title: "Hello world, without and with the probe of carat leak", servers: %w[carat],
        busy: true, measure: method(:call),
        columns: [
          Column.new("CPU us a request", :plain, places: 2), Column.new("with the probe", :probed, places: 2),
          Column.new("ratio", :ratio, places: 3, target: Target.at_least(0.97)),
          Column.new("errors", :errors, over: :sum, target: Target.at_most(0))
        ]
      )
    ].freeze
  end
end
