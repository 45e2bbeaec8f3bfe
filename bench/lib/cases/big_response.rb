# frozen_string_literal: true

module Bench
  # A large response that the application yields in pieces.
  module BigResponse
    RATES = { "fast" => nil, "20 MB/s" => 20_000_000 }.freeze
    BYTES = 1600 * 65_536
    DEADLINE_SECONDS = 60
    # A fast client takes a tenth of a second, and one request alone says little.
    REPEATS = 5

    # Each client has a server of its own. A paced client says nothing about the server's speed.
    def self.call(spec, options)
      RATES.transform_values do |rate|
        ClientProcess.beside(spec, File.join(APPS, "big.ru"), "PacedReaders") do |server, clients|
          seen = Observation.of(spec, server, settle: options.settle) do
            Array.new(rate ? 1 : REPEATS) { read(clients, rate) }
          end
          sample(seen).then { |found| { **found, fast_rate: rate ? nil : found[:rate] } }
        end
      end
    end

    def self.read(clients, rate)
      clients.call(:read, count: 1, path: "/big", rate: rate, body_bytes: BYTES, seconds: DEADLINE_SECONDS).first
    end

    # The first byte is that of the first response.
    def self.sample(seen)
      seconds = Statistics.median(seen.value.map { |get| elapsed(get, :last) })
      { first_ms: elapsed(seen.value.first, :first) * 1000, seconds: seconds, rate: BYTES / seconds / (1 << 20),
        complete: seen.value.all? { |get| get[:complete] } ? 1 : 0, **seen.growth }
    end

    def self.elapsed(get, byte) = get[byte] ? get[byte] - get[:started] : DEADLINE_SECONDS

    private_class_method :read, :sample, :elapsed

    CASES = [
      Case.new(
        name: "big", title: "100 MB in pieces of 64 KiB", servers: %w[carat puma], variants: "client",
        measure: method(:call),
        columns: [
          Column.new("first byte ms", :first_ms, places: 2, target: Target.at_most(5)),
          Column.new("seconds", :seconds, places: 2), Column.new("MB/s", :rate),
          Column.ratio("puma", :fast_rate, target: Target.at_least(0.8)),
          *Column.growth(edge: Target.at_most(2), worker: Target.at_most(2)),
          Column.new("complete", :complete, over: :min, target: Target.at_least(1))
        ]
      )
    ].freeze
  end
end
