# frozen_string_literal: true

module Bench
  # Memory after boot, before any load, with one worker and with more.
  module Boot
    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "hello.ru")) do |server|
        footprint = Footprint.of(server, settle: options.settle)
        { pss_mb: footprint.pss_mb, private_mb: footprint.private_mb, roles: footprint.roles,
          worker_private_mb: footprint.worker_private_mb }
      end
    end

    # What each worker after the first adds to the whole tree.
    def self.growth(row, figure)
      single = row.rows.find { |other| other.spec.roles == row.spec.roles && other.spec.workers == 1 }
      further = row.spec.workers - 1
      return if single.nil? || further.zero?

      [row, single].map { |one| Statistics.median(one.values(figure)) }.reduce(:-) / further
    end

    CASES = [
      Case.new(
        name: "boot", title: "Memory after boot", measure: method(:call),
        servers: %w[carat carat-w2 carat-w4 puma puma-w1 puma-w2 puma-w4 hyper],
        columns: [
          Column.text("workers") { |row| row.spec.workers }, Column.new("PSS MB", :pss_mb, places: 1),
          Column.roles("of that", :roles), Column.new("private MB of a worker", :worker_private_mb, places: 1),
          Column.new("further worker: +private MB", nil, places: 1) { |row| growth(row, :private_mb) },
          Column.new("further worker: +PSS MB", nil, places: 1) { |row| growth(row, :pss_mb) }
        ]
      )
    ].freeze
  end
end
