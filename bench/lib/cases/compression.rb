# frozen_string_literal: true

require "zlib"

module Bench
  # The same response in content codings, by the server or by Rack::Deflater.
  module Compression
    CONNECTIONS = 16
    CODINGS = Hash.new(%w[gzip]).merge("carat-compress" => %w[gzip zstd br]).freeze

    # Each coding has a server of its own.
    def self.call(spec, options)
      CODINGS[spec.name].to_h do |coding|
        [coding, Server.run(spec, File.join(APPS, "json100k.ru")) { |server| measure(spec, server, coding, options) }]
      end
    end

    def self.measure(spec, server, coding, options)
      body_bytes = coded_bytes(spec, server, coding)
      wrk = Wrk.new(server, options, connections: CONNECTIONS, headers: { "Accept-Encoding" => coding }).warm_up
      report = wrk.run
      { **report.to_h, body_bytes: body_bytes, cpu_per_1000: report.cost * 1000 }
    end

    # A server that does not compress does not belong in the table.
    def self.coded_bytes(spec, server, coding)
      response = HttpClient.get(server.port, "/", { "Accept-Encoding" => coding })
      used = response.headers["content-encoding"]
      raise Failure, "#{spec.name} responded with #{used.inspect}, not with #{coding}" unless used == coding

      plain = HttpClient.get(server.port, "/").body
      wrong = coding == "gzip" && Zlib.gunzip(response.body) != plain
      raise Failure, "#{spec.name} responded with another body in #{coding}" if wrong

      response.body.bytesize
    end

    private_class_method :measure, :coded_bytes

    # Targets are for Carat's own gzip.
    def self.goal(target) = ->(row) { target if row.spec.name == "carat-compress" && row.variant == "gzip" }

    # To the gzip of a server, whatever the coding of this row.
    def self.ratio(heading, server, figure, target)
      Column.new(heading, nil, places: 2, target: goal(target)) do |row|
        base = row.rows.find { |other| other.spec.name == server && other.variant == "gzip" }
        Statistics.ratio(row.values(figure), base.values(figure)) if base
      end
    end

    CASES = [
      Case.new(
        name: "gzip", title: "JSON of 100 KB, compressed", busy: true, variants: "coding", measure: method(:call),
        servers: %w[carat-compress carat-deflater puma-deflater puma-t5-deflater],
        columns: [
          Column.new("req/s", :rate), Column.spread(:rate), Column.new("p99 ms", :p99_ms, places: 1),
          Column.new("CPU s/1000", :cpu_per_1000, places: 3), Column.new("body bytes", :body_bytes),
          ratio("of Puma's", "puma-deflater", :body_bytes, Target.at_most(1.1)),
          ratio("x puma", "puma-deflater", :rate, Target.at_least(2.5)),
          ratio("x puma-t5", "puma-t5-deflater", :rate, Target.at_least(2.5)),
          Column.new("errors", :errors, over: :sum)
        ]
      )
    ].freeze
  end
end
