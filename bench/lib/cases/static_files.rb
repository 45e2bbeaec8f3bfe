# frozen_string_literal: true

require "fileutils"

module Bench
  # Files that a server sends without an application.
  module StaticFiles
    SERVERS = %w[carat-static nginx].freeze
    SIZES = { "10 KB" => ["/10k.bin", 10_240, 0.8], "1 MB" => ["/1m.bin", 1 << 20, 0.9] }.freeze

    # The directory that both servers are given as their application.
    def self.site
      @site ||= TestFile.path("site").tap do |site|
        FileUtils.mkdir_p(File.join(site, "public"))
        FileUtils.cp(File.join(APPS, "hello.ru"), File.join(site, "config.ru"))
        File.write(File.join(site, "public/index.html"), "home")
        SIZES.each_value { |path, bytes| FileUtils.cp(TestFile.random(bytes).path, File.join(site, "public", path)) }
      end
    end

    def self.case_of(size)
      path, bytes, share = SIZES.fetch(size)
      load = ->(spec, options) { Load.new(site, path, bytes).call(spec, options) }
      Case.new(
        name: "static#{size.delete(" ").downcase}", title: "A static file of #{size}", servers: SERVERS, busy: true,
        measure: load, needs: Wrk.method(:obstacle),
        columns: [
          Column.new("req/s", :rate), Column.spread(:rate), Column.new("p99 ms", :p99_ms, places: 2),
          Column.new("CPU s/1000", :cpu_per_1000, places: 4), Column.new("PSS MB", :pss_mb, places: 1),
          Column.roles("of that", :roles),
          Column.ratio("nginx", :rate, target: ->(row) { Target.at_least(share) if row.spec.carat? }),
          Column.new("errors", :errors, over: :sum)
        ]
      )
    end

    CASES = SIZES.keys.map { |size| case_of(size) }.freeze
  end
end
