# frozen_string_literal: true

module Bench
  # The memory of a whole deployment, web and jobs, after requests and jobs.
  module JobsMemory
    REQUESTS = 2000
    JOBS = 2000
    SETTLE_SECONDS = 10

    # Returns { pss_mb:, processes: [[title, MB], ...] }.
    def self.call(name, jobs)
      JobsSetup.run(name, jobs: jobs) do |setup|
        load(setup)
        before = weigh(setup)
        next { name: name, **before } if setup.plain? || jobs == "web"

        # What processes weigh that the newest mold has forked, after as many jobs again.
        replace(setup)
        enqueue(setup, JOBS)
        { name: name, **before, replaced: weigh(setup) }
      end
    end

    def self.weigh(setup)
      sleep SETTLE_SECONDS
      processes = setup.members.map { |member| [member.title[0, 60], Number.mb(member.memory.pss).round(1)] }
      { pss_mb: processes.sum(&:last).round(1), processes: processes }
    end

    def self.replace(setup)
      before = setup.job_processes.map { |row| row.fetch("pid") }
      setup.carat("kill-process", setup.job_processes.first.fetch("name"))
      setup.wait("other processes", 120) do
        pids = setup.job_processes.map { |row| row.fetch("pid") }
        pids.size == before.size && !pids.intersect?(before)
      end
    end

    def self.enqueue(setup, from)
      (JOBS / 100).times { |index| answered(setup.enqueue(from + (index * 100) + 1, 100), "201") }
      setup.wait("end of the jobs", 600) { setup.ledger.size >= from + JOBS }
    end

    def self.load(setup)
      enqueue(setup, 0)
      threads = Array.new(4) { Thread.new { (REQUESTS / 4).times { answered(setup.get("/posts"), "200") } } }
      threads.each(&:join)
    end

    def self.answered(status, expected)
      raise Failure, "a request got #{status}" unless status == expected
    end
    private_class_method :load, :answered, :weigh, :replace, :enqueue
  end
end
