# frozen_string_literal: true

module Bench
  # The memory of a whole deployment, web and jobs, after requests and jobs, and after as many again.
  module JobsMemory
    ROUNDS = 2
    REQUESTS = 2000
    JOBS = 2000
    SETTLE_SECONDS = 10

    # Returns what each round has left: { pss_mb:, processes: [[title, MB], ...] }.
    def self.call(name, jobs)
      JobsSetup.run(name, jobs: jobs) do |setup|
        rounds = Array.new(ROUNDS) do |round|
          load(setup, round * JOBS)
          weigh(setup)
        end
        { name: name, jobs: jobs, rounds: rounds }
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

    def self.answered(status, expected)
      raise Failure, "a request got #{status}" unless status == expected
    end
    private_class_method :load, :answered, :weigh
  end
end
