# frozen_string_literal: true

module Bench
  # A ledger of jobs at 50 a second, through restarts, upgrades, and kills of a process that runs jobs. Without Carat,
  # Sidekiq itself is ended, killed, and started again as often.
  module JobsLedger
    BATCH = 5
    PAUSE_SECONDS = 0.1
    JOB_SECONDS = "0.02"
    LAST_JOB_SECONDS = 30
    # From the end of one event to the next.
    QUIET_SECONDS = 2

    # `counts` are restarts, upgrades, and kills. Returns what was lost, and what ran twice.
    def self.call(name, jobs, counts)
      # Three threads of Solid Queue are to keep up.
      JobsSetup.run(name, jobs: jobs, env: { "JOB_SECONDS" => JOB_SECONDS }) do |setup|
        accepted = []
        enqueuer = Thread.new { enqueue(setup, accepted) }
        events(*counts).each { |event| public_send(event, setup, jobs) && sleep(QUIET_SECONDS) }
        enqueuer[:is_over] = true
        refused = enqueuer.value
        outcome(setup, accepted).merge(name: name, jobs: jobs, counts: counts, requests_refused: refused)
      end
    end

    # The events in an order that mixes them.
    def self.events(restarts, upgrades, kills)
      all = { restart: restarts, upgrade: upgrades, kill: kills }
      all.flat_map { |event, count| Array.new(count) { |index| [(index + 0.5) / count, event] } }.sort.map(&:last)
    end

    # Adds the numbers of the jobs to `accepted`; returns how many requests had another status than 201. Each enqueues
    # `batch` jobs.
    def self.enqueue(setup, accepted, batch: BATCH)
      refused = 0
      begun = Bench.now
      (0..).each do |index|
        return refused if Thread.current[:is_over]

        from = (index * batch) + 1
        setup.enqueue(from, batch) == "201" ? accepted.concat((from...(from + batch)).to_a) : refused += 1
        sleep [begun + ((index + 1) * PAUSE_SECONDS) - Bench.now, 0].max
      end
    end

    # Jobs that failed are kept by their framework: they are not lost.
    def self.outcome(setup, accepted)
      await_end(setup, accepted.size)
      ledger = setup.ledger
      { accepted: accepted.size, missing: (accepted - ledger).size, failed: setup.state.fetch("failed"),
        twice: ledger.size - ledger.uniq.size }
    end

    # Waits for this many jobs, as long as one ends within half a minute.
    def self.await_end(setup, count)
      size = nil
      until size == (size = setup.ledger.size)
        give_up = Bench.now + LAST_JOB_SECONDS
        sleep 1 until setup.ledger.size >= count || Bench.now > give_up
      end
    end

    def self.restart(setup, _jobs)
      return setup.carat("restart") unless setup.plain?

      setup.replace(:TERM)
    end

    def self.upgrade(setup, _jobs)
      setup.upgrade
    end

    # SIGKILL, to the process that Carat has forked.
    def self.kill(setup, _jobs)
      return setup.replace(:KILL) if setup.plain?

      before = setup.job_processes
      killed = before.sample.fetch("pid")
      Process.kill(:KILL, killed)
      setup.wait("another process", 60) do
        pids = setup.job_processes.map { |row| row.fetch("pid") }
        pids.size == before.size && !pids.include?(killed)
      end
      true
    end
  end
end
