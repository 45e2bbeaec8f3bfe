# frozen_string_literal: true

require "json"

module Bench
  # The results file of a run, from which bench/plot draws: every sample of every round, in the units of its name.
  class Results
    def initialize(command:, machine:, versions:)
      @head = { command: command, machine: machine, versions: versions }
      @cases = {}
    end

    def add(kase, rows)
      @cases[kase.name] = { title: kase.title, rows: rows.map do |row|
        { server: row.spec.name, workers: row.spec.workers, variant: row.variant, samples: row.samples }
      end }
    end

    def write(path) = File.write(path, "#{JSON.pretty_generate(**@head, cases: @cases)}\n")
  end
end
