# frozen_string_literal: true

module Bench
  # Many clients that read a response slowly, and a fast one beside them.
  module SlowReaders
    CLIENTS = 250
    RATE = 100_000
    BYTES = 3 << 20
    PROBES = { hello: "/", large: "/3m" }.freeze
    PROBE_PAUSE_SECONDS = 0.1
    # Twice as long as it takes to read the response at this rate.
    DEADLINE_SECONDS = 60

    def self.call(spec, options)
      programs = ["PacedReaders", *PROBES.map { "ProbeClient" }]
      ClientProcess.beside(spec, File.join(APPS, "body3m.ru"), *programs) do |server, slow, *probes|
        probes = PROBES.keys.zip(probes).to_h
        seen = Observation.of(spec, server, settle: options.settle) { read(slow, probes, options) }
        readers, probed = seen.value
        { clients: CLIENTS, started: started(readers), complete: readers.count { |reader| reader[:complete] },
          **seen.growth, **waits(readers, probed) }
      end
    end

    # [results of the slow readers, name => the probe's requests]
    def self.read(slow, probes, options)
      probes.each { |name, probe| probe.call(:start, path: PROBES.fetch(name), pause: PROBE_PAUSE_SECONDS) }
      readers = slow.call(:read, count: CLIENTS, path: "/3m", rate: RATE * (options.quick ? 10 : 1), body_bytes: BYTES,
                                 seconds: DEADLINE_SECONDS)
      [readers, probes.transform_values { |probe| probe.call(:stop) }]
    end

    # Seconds until the last slow client had its first byte; nil when one got none.
    def self.started(readers)
      first = readers.map { |reader| reader[:first] }
      first.max - readers.map { |reader| reader[:started] }.min if first.all?
    end

    # The longest wait of each probe between the last slow client's first byte and the first one's end.
    def self.waits(readers, probed)
      first = readers.map { |reader| reader[:first] }
      from = first.all? ? first.max : readers.map { |reader| reader[:started] }.max
      to = readers.filter_map { |reader| reader[:last] }.min || Float::INFINITY
      between = probed.transform_values { |probes| probes.select { |sent, _, _| sent.between?(from, to) } }
      { **between.to_h { |name, probes| [:"#{name}_ms", probes.map { |_, seconds, _| seconds * 1000 }.max] },
        lost: between.values.flatten(1).count { |_, _, bytes| bytes.zero? } }
    end

    private_class_method :read, :started, :waits

    CASES = [
      Case.new(
        name: "slowreaders", title: "250 clients that read 3 MB at 100 KB/s", servers: %w[carat puma-t5],
        measure: method(:call),
        columns: [
          Column.new("slow clients", :clients), Column.new("all started s", :started, places: 2),
          Column.new("complete", :complete, over: :min, target: Target.at_least(CLIENTS)),
          *Column.growth(places: 1, edge: Target.at_most(48), worker: Target.at_most(2)),
          Column.new("fast GET of 13 bytes, max ms", :hello_ms, over: :max, places: 1, target: Target.at_most(50)),
          Column.new("fast GET of 3 MB, max ms", :large_ms, over: :max, places: 1, target: Target.at_most(50)),
          Column.new("no response", :lost, over: :sum, target: Target.at_most(0))
        ]
      )
    ].freeze
  end
end
