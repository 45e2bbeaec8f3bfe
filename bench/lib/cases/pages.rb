# frozen_string_literal: true

module Bench
  # The pages that a worker has for itself after boot, under load, and at rest: what they hold, and how they differ
  # from the mold's.
  class Pages
    # The edge reminds a worker once it has had no request for 10 s; twice that is long enough for its answer.
    REST_SECONDS = 20
    SECONDS = 600

    # counts: how many requests the worker has served when its pages are read.
    def initialize(app, path, counts)
      @app = File.join(APPS, app)
      @path = path
      @counts = counts
    end

    def call(spec, options)
      Server.run(spec, @app) do |server|
        moments = { "after boot" => -> { sleep(options.settle) } }
        (options.quick ? @counts.first(1) : @counts).inject(0) do |before, count|
          moments["after #{Number.count(count)} requests"] = -> { load(server, count - before) }
          count
        end
        moments["at rest"] = -> { sleep(REST_SECONDS) } unless options.quick
        moments.each_with_object({}) { |(name, reach), found| found.update(read(server, name, reach)) }
      end
    end

    private

    def load(server, requests)
      SteadyLoad.run(server, @path, connections: 1, seconds: SECONDS, requests: requests)
    end

    def read(server, moment, reach)
      reach.call
      mold, worker = server.pids_by_role.values.last(2).map(&:first)
      tallies = PageAccount.of(worker, mold)
      all = { "all" => tallies.values.reduce(:+), **tallies.sort_by { |_, tally| -tally.sum }.to_h }
      all.to_h { |owner, tally| ["#{moment}: #{owner}", sample(tally)] }
    end

    def sample(tally) = { private_kb: tally.sum >> 10, **tally.to_h.transform_values { |bytes| bytes >> 10 } }

    COLUMNS = [
      Column.new("private KiB", :private_kb), Column.new("the mold has none", :added),
      Column.new("the same content", :same), Column.new("1 to 4 words differ", :few), Column.new("more differ", :many)
    ].freeze

    def self.kase(name, title, pages, server)
      Case.new(name: name, title: title, servers: [server], variants: "when: what the pages hold", measure: pages,
               columns: COLUMNS, needs: SteadyLoad.method(:obstacle))
    end

    private_class_method :kase

    CASES = [
      kase("pages", "A worker's own pages: hello world", new("hello.ru", "/", [1000, 20_000]), "carat"),
      kase("weight_pages", "A worker's own pages: 40 MB of objects",
           new("weight.ru", Weight::PATH, [50, 2000]), "carat-warm-w1")
    ].freeze
  end
end
