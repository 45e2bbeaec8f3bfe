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
      Load.kase("static#{size.delete(" ").downcase}", "A static file of #{size}", load, SERVERS,
                [["nginx", Target.at_least(share)]])
    end

    CASES = SIZES.keys.map { |size| case_of(size) }.freeze
  end
end
