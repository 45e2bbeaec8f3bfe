# frozen_string_literal: true

require "fileutils"
require_relative "../../../lab/test/support/planted_application"
require_relative "../../../lab/test/support/planted_bytes"

module Bench
  # The applications of `bench/leak_table`, each in a directory of its own: those of the tests with a planted leak, and
  # some that have none.
  module LeakApplications
    include Support::PlantedApplication
    include Support::PlantedBytes

    ROOT = File.expand_path("../../..", __dir__)

    # By name, the directory or the rackup file of an application without a leak, and what it requires.
    SOUND = {
      sinatra: ["bench/apps/sinatra.ru", "sinatra/base"],
      roda: ["bench/apps/roda.ru", "roda"],
      blog: ["examples/blog", "sequel"],
      shop: ["test/shop", "rails/all"]
    }.freeze
    VERDICTS = { clean: "no leak", cache: "bounded cache", fragmentation: "fragmentation",
                 mapping: "growing mappings", descriptor: "growing descriptors",
                 **SOUND.transform_values { "no leak" } }.freeze

    # What fills is planted for so many requests, which a run must have but for its warm-up.
    FILLED_ROUND = 503
    FILLING = %i[cache fragmentation].freeze
    ROUNDS = 13

    PATHS = { one_in_ten: (0..9).map { |number| "/#{number}" }, roda: %w[/ /items /items/7],
              blog: %w[/ /feed.atom], shop: %w[/items /items/1] }.freeze
    RAILS = "7.0"

    private

    # The names of the applications that this Ruby can run.
    def available
      [*(RACKUP.keys - INNOCENT.keys), *SOUND.keys.select { |name| loads?(name) }]
    end

    def loads?(name)
      program = "require #{SOUND.fetch(name).last.inspect}; exit(!defined?(Rails) || Rails.version >= #{RAILS.inspect})"
      system(RbConfig.ruby, "-e", program, err: File::NULL)
    end

    # Puts an application into the directory.
    def prepare(name)
      return plant(name, requests: FILLED_ROUND * ROUNDS) if RACKUP.key?(name)

      source = File.join(ROOT, SOUND.fetch(name).first)
      return FileUtils.cp(source, File.join(@directory, "config.ru")) unless File.directory?(source)

      FileUtils.cp_r("#{source}/.", @directory)
      fill if name == :shop
    end

    # Makes the item that is requested.
    def fill
      command = [RbConfig.ruby, "-r", "./config/environment", "-e", "Item.create!(name: \"tea\")"]
      assert system({ "RAILS_ENV" => "production" }, *command, chdir: @directory, out: File::NULL), "no item"
    end

    # The flags of a run with rounds of so many requests, or nil. A thread a request needs rounds that the command
    # chooses.
    def flags(name, requests)
      requests = name == :thread ? nil : round(name, requests)
      [*("-e" if SOUND.key?(name)), *("production" if SOUND.key?(name)),
       *paths(name).flat_map { |path| ["--path", path] }, *(["--requests", requests.to_s] if requests)]
    end

    def round(name, requests)
      FILLING.include?(name) ? FILLED_ROUND : requests
    end

    def paths(name)
      PATHS.fetch(name, ["/"])
    end

    # The line at which memory grows, or nil.
    def line(name)
      leaking_line(name) if RACKUP.fetch(name, "").match?(PLANTED)
    end

    def assert(condition, message)
      abort message unless condition
    end
  end
end
