# frozen_string_literal: true

module Bench
  # Bodies for an application that responds with their SHA-256.
  class Uploads
    # `number` uploads at once of `megabytes` each; rate: bytes a second of each, or nil.
    Variant = Struct.new(:megabytes, :number, :chunked, :rate) do
      def to_s
        speed = rate ? "#{rate / 1_000_000} MB/s" : "full speed"
        "#{number} x, #{chunked ? "chunked" : "Content-Length"}, #{speed}"
      end
    end

    APP = File.join(APPS, "digest.ru")
    # By default, Carat accepts 1 GiB.
    ROOM = { "CARAT_MAX_BODY" => "4GB" }.freeze
    private_constant :APP, :ROOM

    def initialize(variants)
      @variants = variants
    end

    # Each has a server of its own: memory that one upload leaves behind would hide the growth of the next.
    def call(spec, options)
      @variants.to_h { |variant| [variant, measure(spec, options, variant)] }
    end

    private

    def measure(spec, options, variant)
      body = TestFile.random((variant.megabytes << 20) / (options.quick ? 10 : 1))
      seen = ClientProcess.beside(spec.with_env(ROOM), APP, "UploadClients") do |server, clients|
        Observation.of(spec, server, settle: options.settle) do
          clients.call(:upload, number: variant.number, path: "/", file: body.path, chunked: variant.chunked,
                                rate: variant.rate)
        end
      end
      right = seen.value.count { |upload| upload[:status] == 200 && upload[:body] == body.sha256 }
      { uploads: variant.number, seconds: seen.seconds, right: right, **seen.growth,
        **cpu(seen, (body.bytes * variant.number).fdiv(1 << 30)) }
    end

    # Seconds a GB.
    def cpu(seen, gigabytes)
      { edge_cpu: seen.spec.alone? ? nil : seen.front_cpu / gigabytes, all_cpu: seen.cpu.values.sum / gigabytes }
    end

    # edge_mb: a callable that takes a Row and returns a Target.
    def self.kase(name, title, variants, edge_mb)
      Case.new(
        name: name, title: title, servers: %w[carat carat-stream puma iodine falcon], variants: "uploads",
        measure: new(variants), needs: -> { room(variants) },
        columns: [
          Column.new("seconds", :seconds, places: 2),
          *Column.growth(edge: edge_mb, worker: Target.at_most(1)),
          Column.new("digests right", :right, over: :min, target: ->(row) { Target.at_least(row[:uploads]) }),
          Column.new("edge CPU s/GB", :edge_cpu, places: 2), Column.new("all CPU s/GB", :all_cpu, places: 2),
          Column.new("samples", :memory_samples, over: :min)
        ]
      )
    end

    # The files of the clients, and of the server.
    def self.room(variants)
      wanted = variants.map { |variant| variant.megabytes * (variant.number + 1) }.max
      free = TestFile.free_megabytes
      "#{wanted} MB are not free in #{TestFile::ROOT}, but #{free}" if free < wanted
    end
    private_class_method :kase, :room

    CASES = [
      kase("upload", "Uploads of 115 MB",
           [1, 3].product([false, true], [nil, 10_000_000]).map { |variant| Variant.new(115, *variant) },
           ->(row) { Target.at_most(1 + (0.25 * row[:uploads])) }),
      kase("uploads50", "Fifty uploads of 20 MB at once",
           [false, true].map { |chunked| Variant.new(20, 50, chunked, nil) }, Target.at_most(18)),
      kase("upload3gb", "An upload of 3 GB", [Variant.new(3072, 1, false, nil)], Target.at_most(2))
    ].freeze
  end
end
