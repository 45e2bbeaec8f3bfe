# frozen_string_literal: true

require "net/http"
require "rbconfig"
require "tempfile"

module Bench
  # New code again and again while requests come; every fifth version cannot be loaded.
  module Restart
    RESTARTS = 20
    BROKEN_EVERY = 5
    CONNECTIONS = 64
    # Requests to start a second: a load that the server carries with room for a boot beside it.
    RATE = 300
    SLOW = { every: 20, other: "/slow" }.freeze
    CALM_SECONDS = 5
    # The first second is not measured.
    WARM_SECONDS = 1
    LOAD_SECONDS = 170
    PROBES = 20
    MEMORY_SECONDS = 0.2

    def self.call(spec, _options)
      file = Tempfile.new("version")
      release(file, "0")
      Server.run(spec.with_env("RESTART_VERSION" => file.path), File.join(APPS, "restart.ru")) do |server|
        load = SteadyLoad.start(server, "/", connections: CONNECTIONS, seconds: LOAD_SECONDS, rate: RATE, **SLOW)
        sleep(CALM_SECONDS)
        peak = 0
        found = Repeat.beside(-> { peak = [peak, pss_mb(server)].max }, every: MEMORY_SECONDS) do
          restart_all(server, file)
        end
        each = (found[:ended] - found[:began]).fdiv(RESTARTS)
        compared(load.finish, found).merge(done: found[:done], stale: found[:stale], each: each, peak_mb: peak)
      end
    ensure
      file&.close!
    end

    # Returns when the restarts began and ended, how many succeeded, and how many old answers came after one was done.
    def self.restart_all(server, file)
      began = Time.now.to_f
      stale = 0
      done = (1..RESTARTS).count do |number|
        is_broken = (number % BROKEN_EVERY).zero?
        release(file, is_broken ? "broken" : number.to_s)
        succeeded = restart(server)
        stale += PROBES - answers(server).count(number.to_s) if succeeded
        raise Failure, "restart #{number} should have #{is_broken ? "failed" : "succeeded"}" if succeeded == is_broken

        succeeded
      end
      { began: began, ended: Time.now.to_f, done: done, stale: stale }
    end

    def self.release(file, version)
      File.write(file.path, version)
    end

    def self.restart(server)
      system(RbConfig.ruby, Servers::CARAT, "restart", "--pid", server.pids_by_role.fetch("edge").first.to_s,
             out: File::NULL, err: File::NULL)
    end

    def self.answers(server)
      Array.new(PROBES) { Net::HTTP.get("127.0.0.1", "/", server.port) }
    end

    def self.pss_mb(server)
      server.pids.sum { |pid| Number.mb(ProcFs.memory(pid).pss) }
    rescue Errno::ENOENT, Errno::ESRCH
      0
    end

    # What a SteadyLoad::Report says about the times before an event and during it.
    def self.compared(report, event)
      calm = report.p99_ms((report.started + WARM_SECONDS)..(event[:began] - report.window_seconds)) || 0
      during = report.p99_ms(event[:began]..event[:ended]) || 0
      { requests: report.requests, failed: report.failed, calm_p99_ms: calm, during_p99_ms: during,
        ratio: during.fdiv(calm) }
    end

    private_class_method :restart_all, :release, :restart, :answers

    CASES = [
      Case.new(
        name: "restart", title: "20 restarts under load, every fifth of code that cannot be loaded", once: true,
        servers: %w[carat-restart-t3 carat-restart-f16], measure: method(:call), needs: SteadyLoad.method(:obstacle),
        columns: [
          *Column.requests, Column.new("restarts done", :done), Column.new("s each", :each, places: 1),
          Column.new("old answers", :stale, over: :sum, target: Target.at_most(0)),
          Column.new("p99 ms before", :calm_p99_ms, places: 1), Column.new("during", :during_p99_ms, places: 1),
          Column.new("during x before", :ratio, over: :max, places: 2, target: Target.at_most(3)),
          Column.new("peak PSS MB", :peak_mb, over: :max, places: 1)
        ]
      )
    ].freeze
  end
end
