# frozen_string_literal: true

module Bench
  # Web and jobs in a control group, under load for some time.
  module JobsLimit
    LIMIT_MB = 512
    CLIENTS = 4
    # Requests of each client, and jobs, a second.
    RATE = 10
    JOB_BATCH = 10

    # Returns what was lost, and how many processes the kernel has killed.
    def self.call(name, seconds)
      Cgroup.make(LIMIT_MB << 20) do |cgroup|
        JobsSetup.run(name, wrap: cgroup.method(:wrap)) do |setup|
          statuses, jobs = load(setup, seconds)
          ledger = await(setup, jobs)
          { name: name, seconds: seconds, statuses: statuses.tally, jobs: jobs.size, jobs_lost: (jobs - ledger).size,
            jobs_twice: ledger.size - ledger.uniq.size, kills: cgroup.kills,
            anonymous_mb: Number.mb(cgroup.anonymous).round(1), state: setup.state }
        end
      end
    end

    # Returns the statuses of the requests, and the numbers of the jobs that were accepted.
    def self.load(setup, seconds)
      give_up = Bench.now + seconds
      clients = Array.new(CLIENTS) do
        Thread.new { paced(give_up, 1.0 / RATE) { setup.get("/posts") } }
      end
      accepted = []
      statuses = paced(give_up, 1) do |index|
        from = (index * JOB_BATCH) + 1
        status = setup.enqueue(from, JOB_BATCH)
        accepted.concat((from...(from + JOB_BATCH)).to_a) if status == "201"
        status
      end
      [clients.flat_map(&:value) + statuses, accepted]
    end

    # Returns the ledger when it is complete, or no further job ends.
    def self.await(setup, jobs)
      JobsLedger.await_end(setup, jobs.size)
      setup.ledger
    end

    # Calls the block at this pace, and returns its results.
    def self.paced(give_up, pause)
      begun = Bench.now
      results = []
      while Bench.now < give_up
        results << yield(results.size)
        sleep [begun + (results.size * pause) - Bench.now, 0].max
      end
      results
    end
    private_class_method :load
  end
end
