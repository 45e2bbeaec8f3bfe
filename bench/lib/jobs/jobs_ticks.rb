# frozen_string_literal: true

module Bench
  # How many ticks of a recurring task of Solid Queue, every 5 s, are skipped while the code or the mold is replaced: of
  # Carat's process with and without `overlap`, and of bin/jobs, which is restarted as a service manager does. All run
  # at the same time, each with a database of its own, and the restarts of all begin together.
  module JobsTicks
    EVERY_SECONDS = 5
    # From the end of one event to the next, so that each comes at another time of a tick.
    QUIET_SECONDS = 11.7
    FILES = {
      "config/recurring.yml" => "production: { tick: { class: TickJob, schedule: every #{EVERY_SECONDS} seconds } }\n",
      "app/jobs/tick_job.rb" => "class TickJob < ActiveJob::Base\n  def perform = nil\nend\n"
    }.freeze
    TICKS = "SELECT run_at FROM solid_queue_recurring_executions WHERE task_key = 'tick'"
    MOVES = "process moves to the new mold"
    # The set-up of each name, and its jobs.
    SETUPS = { "overlap" => %w[carat reforked-overlap], "alone" => %w[carat reforked],
               "bin/jobs" => %w[puma-jobs solid] }.freeze

    # Returns, by name, how many ticks there should have been in the time of the events, and how many are missing.
    def self.call(reforks, restarts)
      meeting = Meeting.new(SETUPS.size)
      threads = SETUPS.map do |name, (setup, jobs)|
        Thread.new { [name, run(setup, jobs, reforks, restarts, meeting)] }
      end
      threads.to_h(&:value)
    end

    def self.run(name, jobs, reforks, restarts, meeting)
      JobsSetup.run(name, jobs:, files: FILES) do |setup|
        setup.wait("tick", 60) { ticks(setup).any? }
        counted = count(setup, reforks, :refork)
        meeting.wait
        { reforks: counted, restarts: count(setup, restarts, :restart) }
      end
    end

    # Where threads wait until all have come.
    class Meeting
      def initialize(count)
        @missing = count
        @turn = Mutex.new
        @complete = ConditionVariable.new
      end

      def wait
        @turn.synchronize do
          @missing -= 1
          @complete.broadcast
          @complete.wait(@turn) while @missing.positive?
        end
      end
    end
    private_constant :Meeting

    def self.count(setup, times, event)
      return if times.zero? || (event == :refork && setup.plain?)

      begun = Time.now
      times.times do
        public_send(event, setup)
        sleep QUIET_SECONDS
      end
      sleep 2 * EVERY_SECONDS
      due = due(begun, Time.now - EVERY_SECONDS)
      { times:, due: due.size, skipped: (due - ticks(setup)).size, moved: moved(setup) }
    end

    # How many times a process has moved to the mold of a refork since the start. Without one, no tick was in danger.
    def self.moved(setup) = File.read(setup.path("output")).scan(MOVES).size

    # The ticks between two times, as seconds since the epoch.
    def self.due(from, to)
      first = (from.to_f / EVERY_SECONDS).ceil
      (first..(to.to_f / EVERY_SECONDS).floor).map { |number| number * EVERY_SECONDS }
    end

    def self.ticks(setup)
      require "sqlite3"
      database = SQLite3::Database.new(setup.path("storage/production_queue.sqlite3"), readonly: true)
      database.busy_timeout = 5000
      database.execute(TICKS).map { |(text)| Time.new("#{text} UTC").to_i }
    ensure
      database&.close
    end

    # Waits until all workers are of a newer generation.
    def self.refork(setup)
      before = 0
      setup.wait("generation", JobsSetup::START_SECONDS) { (before = generation(setup)).positive? }
      setup.wait("refork", JobsSetup::START_SECONDS) do
        20.times { setup.get("/posts") }
        generation(setup) > before
      end
    end

    # The generation of the oldest worker; 0 when the server is too busy to say.
    def self.generation(setup)
      rows = JSON.parse(setup.carat("status", "--json")).fetch("processes")
      rows.map { |row| row.fetch("generation") }.min || 0
    rescue Failure
      0
    end

    def self.restart(setup)
      setup.plain? ? setup.replace(:TERM, title: "solid-queue") : setup.carat("restart")
    end
  end
end
