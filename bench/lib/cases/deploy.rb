# frozen_string_literal: true

module Bench
  # A whole Rails application with two workers, through restarts and killed workers: wrk asks for pages, jobs are
  # enqueued, and sockets of Rails' own client of Action Cable are open.
  module Deploy
    SOCKETS = 1000
    SUBSCRIBE_SECONDS = 60
    # Of each kind.
    EVENTS = 5
    # Before each.
    CALM_SECONDS = 3
    # Once all is over, closed sockets connect again.
    BACK_SECONDS = 30
    PAUSE_SECONDS = 0.1
    PAGE = "/posts"
    CONNECTIONS = 4
    # Requests of wrk wait as long as others' do.
    PATIENCE = 60
    WRK_SECONDS = 5
    JOB_SECONDS = "0.02"
    LAST_WORDS = "the end"

    def self.call(spec, options)
      WholeApp.with_two_workers(spec.name, job_seconds: JOB_SECONDS) do |setup|
        ActionCableSockets.open(setup.port, SOCKETS) do |sockets|
          setup.wait("subscriptions", SUBSCRIBE_SECONDS) { sockets.state[:subscribed] == SOCKETS }
          load = Load.new(setup, options)
          seconds = load.during { events(setup) }
          { **load.sample, **ledger(setup, load.jobs), **heard(sockets), events: EVENTS, restart_s: seconds.max }
        end
      end
    end

    # Restarts and kills in turn; returns how many seconds each restart took.
    def self.events(setup)
      Array.new(EVENTS) do
        sleep CALM_SECONDS
        begun = Bench.now
        setup.restart
        took = Bench.now - begun
        sleep CALM_SECONDS
        kill(setup)
        took
      end
    end

    # Kills a worker, and waits for another in its place.
    def self.kill(setup)
      before = setup.workers
      killed = before.sample
      Process.kill(:KILL, killed)
      setup.wait("another worker", SUBSCRIBE_SECONDS) do
        setup.workers.then { |now| now.size >= before.size && !now.include?(killed) }
      end
    end

    def self.ledger(setup, accepted)
      found = JobsLedger.outcome(setup, accepted)
      { jobs: accepted.size, jobs_lost: found[:missing] + found[:failed], jobs_twice: found[:twice] }
    end

    # Sockets that were closed, and those that hear what one of them tells all.
    def self.heard(sockets)
      closed = sockets.state[:disconnects]
      await(sockets, :subscribed)
      sockets.tell(LAST_WORDS)
      { sockets: SOCKETS, closed: closed, deaf: SOCKETS - await(sockets, :heard) }
    end

    # How many are subscribed, or have heard the last text, once all are or have, or time is up.
    def self.await(sockets, state)
      give_up = Bench.now + BACK_SECONDS
      sleep(PAUSE_SECONDS) until sockets.state[state] == SOCKETS || Bench.now > give_up
      sockets.state[state]
    end

    # wrk and jobs while a block runs.
    class Load
      # The numbers of the jobs that were accepted.
      attr_reader :jobs

      def initialize(setup, options)
        @jobs = []
        @wrk = Wrk.new(setup, options, path: PAGE, connections: CONNECTIONS, headers: JobsClient::HEADERS,
                                       patience: PATIENCE)
        @pages = Thread.new { pages }
        @enqueuer = Thread.new { JobsLedger.enqueue(setup, @jobs, batch: 1) }
      end

      # Returns the block's value; the load ends with the block.
      def during
        yield
      ensure
        @is_over = @enqueuer[:is_over] = true
        [@pages, @enqueuer].each(&:join)
      end

      def sample
        reports = @pages.value
        { requests: reports.sum(&:requests), failed: reports.sum(&:errors), refused: @enqueuer.value,
          rate: Statistics.mean(reports.map(&:rate)) }
      end

      private

      def pages
        reports = []
        reports << @wrk.run(WRK_SECONDS) until @is_over
        reports
      end
    end

    private_class_method :events, :kill, :ledger, :heard, :await
    private_constant :Load

    CASES = [
      Case.new(
        name: "deploy", title: "Five restarts and five killed workers, under load", once: true, measure: method(:call),
        servers: WholeApp::TWO_WORKERS.keys, needs: -> { JobsApp.obstacle || ActionCableSockets.obstacle },
        columns: [
          Column.new("sockets", :sockets), Column.new("closed sockets", :closed, target: Target.at_most(0)),
          Column.new("deaf sockets at the end", :deaf, target: Target.at_most(0)),
          Column.new("pages", :requests), Column.new("failed pages", :failed, target: Target.at_most(0)),
          Column.new("pages/s", :rate), Column.new("jobs", :jobs),
          # Nobody may repeat a POST that a killed worker was running.
          Column.new("POSTs without 201", :refused, target: Target.at_most(EVENTS)),
          Column.new("lost jobs", :jobs_lost, target: Target.at_most(0)),
          Column.new("jobs twice", :jobs_twice, target: Target.at_most(0)), Column.new("restarts", :events),
          Column.new("took s at most", :restart_s, places: 1), Column.new("killed workers", :events)
        ]
      )
    ].freeze
  end
end
