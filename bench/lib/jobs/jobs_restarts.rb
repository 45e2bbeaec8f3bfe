# frozen_string_literal: true

module Bench
  # Restarts of web and jobs in a control group, under load, one of them with code that does not boot.
  module JobsRestarts
    CLIENTS = 4
    # Requests of each client, and jobs, a second.
    RATE = 5
    QUIET_SECONDS = 5
    BROKEN = "config/initializers/broken.rb"
    # What the server's log says of a step that makes room for a second mold.
    STEP = /(previous mold|last worker|worker|processes) makes? room for the restart/
    # What the command says if no worker ran for some time.
    WAITED = /requests waited for ([\d.]+) s/
    private_constant :STEP, :WAITED

    # Returns what each restart has said and what was lost, which steps made room, and for how many seconds requests
    # waited at most because no worker ran; `limit` is in MB.
    def self.call(name, jobs, limit, restarts)
      Cgroup.make(limit << 20) do |cgroup|
        JobsSetup.run(name, jobs:, wrap: cgroup.method(:wrap)) do |setup|
          load = Load.new(setup)
          told = Array.new(restarts) { |index| restart(setup, index == restarts / 2) }
          load.stop
          lost = load.jobs - JobsLimit.await(setup, load.jobs)
          { name:, limit:, told:, **most(told), statuses: load.statuses.tally, longest: load.longest.round(2),
            jobs: load.jobs.size, jobs_lost: lost.size, jobs_twice: setup.ledger.size - setup.ledger.uniq.size,
            kills: cgroup.kills }
        end
      end
    end

    # What a restart has told: the words of the command, how many seconds it took, how often each step was taken by the
    # lines of the server's log, and for how many seconds requests waited because no worker ran.
    def self.told(words, seconds, log)
      { words: words.strip, seconds: seconds.round(1), steps: log.scan(STEP).flatten.tally,
        waited: words[WAITED, 1].to_f }
    end

    # Of all restarts: in how many each step was taken, and the longest wait.
    def self.most(told)
      { steps: told.flat_map { |restart| restart[:steps].keys }.tally, waited: told.map { |it| it[:waited] }.max }
    end

    def self.restart(setup, is_broken)
      sleep QUIET_SECONDS
      File.write(setup.path(BROKEN), "raise \"it is broken\"") if is_broken
      written = File.size(setup.path("output"))
      begun = Bench.now
      words = begin
        setup.carat("restart")
      rescue Failure => e
        e.message
      end
      told(words, Bench.now - begun, File.binread(setup.path("output"), nil, written).to_s)
    ensure
      FileUtils.rm_f(setup.path(BROKEN))
    end
    private_class_method :restart

    # Clients that ask for pages and enqueue jobs until they are stopped.
    class Load
      attr_reader :statuses, :jobs, :longest

      def initialize(setup)
        @setup = setup
        @statuses = []
        @jobs = []
        @longest = 0
        @threads = [*Array.new(CLIENTS) { Thread.new { repeat { setup.get("/posts") } } }, Thread.new { enqueue }]
      end

      def stop
        @is_over = true
        @threads.each(&:join)
      end

      private

      def enqueue
        number = 0
        repeat do
          @setup.enqueue(number += 1, 1).tap { |status| @jobs << number if status == "201" }
        end
      end

      def repeat
        until @is_over
          begun = Bench.now
          @statuses << yield
          took = Bench.now - begun
          @longest = [@longest, took].max
          sleep [(1.0 / RATE) - took, 0].max
        end
      end
    end
    private_constant :Load
  end
end
