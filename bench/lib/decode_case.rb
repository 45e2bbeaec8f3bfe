# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "material"
require_relative "observation"
require_relative "rust_program"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # Coded request bodies, beside the decoder crate alone on the same bytes.
  class DecodeCase
    # So many bodies at once of so many decoded bytes each; window: log2 of the encoder's, where it can be chosen.
    Variant = Struct.new(:coding, :window, :bytes, :number, keyword_init: true) do
      def to_s
        size = "#{number} x #{bytes / 1_000_000} MB"
        window.zero? ? "#{coding}, #{size}" : "#{coding}, window #{(1 << window) >> 20} MiB, #{size}"
      end
    end
    # rate, alone: decoded bytes a second by the wall, of the server and of the crate; cpu, alone_cpu: seconds of the
    # edge and of the crate; front, worker: bytes that these processes grew by, over so many samples; right: bodies of
    # which the application saw the decoded size.
    Sample = Struct.new(:rate, :alone, :cpu, :alone_cpu, :front, :worker, :samples, :right, keyword_init: true)
    HEADINGS = ["bodies", "decoded MB/s", "crate alone MB/s", "of that", "edge CPU s/GB", "crate CPU s/GB",
                "edge +MB", "worker +MB", "samples", "right"].freeze
    CODINGS = [["gzip", 0], ["br", 20], ["br", 22], ["zstd", 20], ["zstd", 21]].freeze
    PROGRAM = RustProgram.new("bare-codings")
    # The bound is on one body at a time; more share the machine's processors.
    RATIO = Bound.at_least(0.8)
    GROWTH_MB = 2
    MEGABYTE = 1 << 20
    GIGABYTE = 1 << 30
    QUICK_BYTES = 100_000_000

    attr_reader :title, :peers

    # sizes: [[decoded bytes, bodies at once], ...]
    def initialize(title:, app:, peers:, sizes:)
      @title = title
      @app = app
      @peers = peers
      @variants = sizes.product(CODINGS).map do |(bytes, number), (coding, window)|
        Variant.new(coding: coding, window: window, bytes: bytes, number: number)
      end
    end

    # Variant => Sample; each has a server of its own.
    def measure(peer, arguments)
      @variants.to_h do |variant|
        variant = variant.dup.tap { |copy| copy.bytes = [copy.bytes, QUICK_BYTES].min } if arguments.quick
        file = coded(variant)
        alone, alone_cpu = alone(variant, file)
        seen = ClientProcess.beside(peer, @app, "upload_clients") do |server, clients|
          Observation.of(server, settle: arguments.settle) { upload(clients, variant, file) }
        end
        [variant, sample(peer, variant, seen).tap { |sample| sample.alone, sample.alone_cpu = alone, alone_cpu }]
      end
    end

    # samples: Peer => list of Variant => Sample.
    def table(samples)
      samples.each_with_object(Table.new(HEADINGS)) do |(peer, rounds), table|
        rounds.first.each_key do |variant|
          table << row(peer, variant, rounds.map { |round| round.fetch(variant) })
        end
      end
    end

    private

    # The path of the coded data, made once.
    def coded(variant)
      name = [variant.coding, variant.window, variant.bytes].join("-")
      Material.item(name) do |path|
        PROGRAM.run("write", variant.coding, variant.window, variant.bytes, path)
        path
      end
    end

    # Decoded bytes a second, and CPU seconds for all of them.
    def alone(variant, file)
      PROGRAM.obstacle # a build would count as well
      before = children_cpu
      figures = PROGRAM.run("read", variant.coding, file).scan(/(\w+)=(\d+)/).to_h.transform_values(&:to_i)
      raise Failure, "#{variant} is #{figures['bytes']} bytes long" unless figures.fetch("bytes") == variant.bytes

      [figures.fetch("bytes") * 1e9 / figures.fetch("nanoseconds"), children_cpu - before]
    end

    # CPU seconds of the children that have ended.
    def children_cpu
      times = Process.times
      times.cutime + times.cstime
    end

    def upload(clients, variant, file)
      clients.order(:upload, number: variant.number, path: "/", file: file,
                             headers: { "Content-Encoding" => variant.coding })
    end

    def sample(peer, variant, seen)
      right = seen.value.count { |upload| upload[:status] == 200 && upload[:body] == variant.bytes.to_s }
      taken = seen.value.map { |upload| upload[:answered] }.max - seen.value.map { |upload| upload[:begun] }.min
      Sample.new(rate: variant.bytes * variant.number / taken, right: right, samples: seen.growth.samples,
                 cpu: seen.cpu.fetch(peer.front_role), front: seen.growth.of(peer.front_role),
                 worker: seen.growth.of(peer.worker_role))
    end

    def row(peer, variant, list)
      rate, alone = %i[rate alone].map { |figure| Series.new(list.map(&figure)) }
      cpu = per_gigabyte(list.map(&:cpu), variant.bytes * variant.number)
      [variant, Figure.count(rate.median / MEGABYTE), Figure.count(alone.median / MEGABYTE),
       ratio(peer, variant, rate.ratio(alone)), cpu, per_gigabyte(list.map(&:alone_cpu), variant.bytes),
       growth(peer, Bound.at_most(GROWTH_MB * variant.number), list.map(&:front)),
       Figure.megabytes(list.map(&:worker).max), list.map(&:samples).min,
       peer.judged(Bound.at_least(variant.number), list.map(&:right).min)]
    end

    def per_gigabyte(seconds, bytes)
      Figure.decimals(Series.new(seconds).median * GIGABYTE / bytes, 2)
    end

    def ratio(peer, variant, ratio)
      text = Figure.decimals(ratio, 2)
      variant.number == 1 ? peer.judged(RATIO, ratio, text) : text
    end

    # The most of all rounds.
    def growth(peer, bound, bytes)
      megabytes = bytes.max.fdiv(MEGABYTE)
      peer.judged(bound, megabytes, Figure.decimals(megabytes, 2))
    end
  end
end
