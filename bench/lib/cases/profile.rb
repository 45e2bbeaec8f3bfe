# frozen_string_literal: true

require "json"

module Bench
  # What `carat profile` costs the requests of the worker that it profiles: load without and with it in turn, in one
  # server.
  class Profile
    ROUNDS = 5
    # What the command needs to boot, and how much longer than the load it profiles.
    BOOT_SECONDS = 1
    SPARE_SECONDS = 5

    # app: a rackup file; path: what is requested; env: a callable that returns the application's variables.
    def initialize(app, path, env: -> { {} })
      @app = app
      @path = path
      @env = env
    end

    def call(spec, options)
      Server.run(spec.with_env(@env.call), @app) do |server|
        wrk = Wrk.new(server, options, path: @path).warm_up
        rounds = Array.new(ROUNDS) { [wrk.run, *profiled(server, options) { wrk.run }] }
        plain, loads, documents = rounds.transpose
        { plain: rate(plain), profiled: rate(loads), ratio: Statistics.median(ratios(plain, loads)),
          samples: documents.sum { |document| document.fetch("samples") }, errors: (plain + loads).sum(&:errors) }
      end
    end

    private

    def rate(reports)
      Statistics.median(reports.map(&:rate))
    end

    def ratios(plain, profiled)
      plain.zip(profiled).map { |one, other| other.rate / one.rate }
    end

    # Returns the value of the block, and the document of the profile that is taken meanwhile.
    def profiled(server, options)
      words = ["profile", "--pid", server.pids_by_role.fetch("edge").first.to_s, "--worker", "1", "--json",
               "--seconds", (options.duration + SPARE_SECONDS).ceil.to_s]
      IO.popen([RbConfig.ruby, Servers::CARAT, *words]) do |command|
        sleep(BOOT_SECONDS)
        report = yield
        Process.kill(:INT, command.pid)
        [report, JSON.parse(command.read)]
      end
    end

    COLUMNS = [
      Column.new("req/s", :plain), Column.new("req/s with a profile", :profiled),
      Column.new("ratio", :ratio, places: 3, target: Target.at_least(0.9)),
      Column.new("samples", :samples, over: :sum), Column.new("errors", :errors, over: :sum)
    ].freeze

    def self.kase(name, title, profile)
      Case.new(name: name, title: "#{title}, without and with a profile", servers: %w[carat], busy: true,
               measure: profile, columns: COLUMNS)
    end
    private_class_method :kase


    CASES = [
      kase("profile", "Hello world", new(File.join(APPS, "hello.ru"), "/")),
      kase("profile-allocate", "Requests that allocate", new(File.join(APPS, "allocate.ru"), "/")),
      kase("profile-blog", "An article from SQLite",
           new(File.join(EXAMPLES, "blog/config.ru"), "/articles/counting-swifts",
               env: -> { { "BLOG_DATA" => TestFile.path("blog") } }))
    ].freeze
  end
end
