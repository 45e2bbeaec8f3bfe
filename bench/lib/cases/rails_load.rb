# frozen_string_literal: true

module Bench
  # A page of a Rails application that reads records from PostgreSQL and renders them.
  module RailsLoad
    PATH = "/garbage"
    CONNECTIONS = 10

    def self.call(spec, options)
      Server.run(spec.with_env(Database.environment), File.join(APPS, "rails_weight.ru")) do |server|
        report = Wrk.new(server, options, path: PATH, connections: CONNECTIONS * spec.workers).warm_up.run
        { rate: report.rate, p50_ms: report.p50_ms, p99_ms: report.p99_ms, requests: report.requests,
          failed: report.errors, cpu_ms: report.cost * 1000, worker_cpu: BesidePuma.cpu(server),
          **BesidePuma.memory(server, spec.workers, settle: options.settle) }
      end
    end

    CASES = [
      Case.new(name: "rails", title: "Rails with 20 models in PostgreSQL", servers: BesidePuma::SERVERS,
               measure: method(:call), needs: Database.method(:obstacle), columns: BesidePuma::COLUMNS,
               further: BesidePuma.method(:further))
    ].freeze
  end
end
