# frozen_string_literal: true

module Bench
  # The memory of a whole deployment, web and jobs, after requests and jobs, and after as many again.
  module JobsMemory
    ROUNDS = 2
    REQUESTS = 2000
    JOBS = 2000
    SETTLE_SECONDS = 10
    # What Whole runs with.
    SOCKETS = 100
    JOB_SECONDS = "0.01"

    # Returns what each round has left: { pss_mb:, processes: [[title, MB], ...] }.
    def self.call(name, jobs)
      JobsSetup.run(name, jobs: jobs) { |setup| { name: name, jobs: jobs, rounds: rounds(setup) } }
    end

    # The same beside sockets of Action Cable, of which the last round counts.
    def self.whole(spec, _options)
      WholeApp.with_two_workers(spec.name, job_seconds: JOB_SECONDS) do |setup|
        listeners = CableListeners.new(setup.port, SOCKETS)
        setup.wait("subscriptions", 60) { listeners.ready? }
        last = rounds(setup).last
        listeners.finish
        { pss_mb: last[:pss_mb], roles: last[:processes].map { |title, mb| "#{role(title)} #{mb}" }.join(", "),
          requests: ROUNDS * REQUESTS, jobs: ROUNDS * JOBS }
      end
    end

    def self.rounds(setup)
      Array.new(ROUNDS) do |round|
        load(setup, round * JOBS)
        weigh(setup)
      end
    end

    def self.load(setup, done)
      (JOBS / 100).times { |index| answered(setup.enqueue(done + (index * 100) + 1, 100), "201") }
      setup.wait("end of the jobs", 600) { setup.ledger.size >= done + JOBS }
      threads = Array.new(4) { Thread.new { (REQUESTS / 4).times { answered(setup.get("/posts"), "200") } } }
      threads.each(&:join)
    end

    def self.weigh(setup)
      sleep SETTLE_SECONDS
      processes = setup.members.map { |member| [member.title[0, 60], Number.mb(member.memory.pss).round(1)] }
      { pss_mb: processes.sum(&:last).round(1), processes: processes }
    end

    def self.role(title) = title[/edge|mold|worker|solid-queue-?\w*|puma/] || title

    def self.answered(status, expected)
      raise Failure, "a request got #{status}" unless status == expected
    end
    private_class_method :rounds, :load, :answered, :weigh, :role

    CASES = [
      Case.new(
        name: "whole_memory", title: "A whole Rails application with its jobs and its cable", once: true,
        servers: WholeApp::TWO_WORKERS.keys, measure: method(:whole), needs: -> { JobsApp.obstacle },
        columns: [
          Column.new("requests", :requests), Column.new("jobs", :jobs), Column.new("PSS MB", :pss_mb, places: 1),
          Column.ratio("puma-t3-w2", :pss_mb, target: Target.at_most(0.6)),
          Column.text("of that") { |row| row.values(:roles).last }
        ]
      )
    ].freeze
  end
end
