# frozen_string_literal: true

require "json"
require "random/formatter"

module Bench
  # Coded request bodies, beside the decoder crate alone on the same bytes.
  module Decode
    # `number` bodies at once of `bytes` decoded bytes each; window: log2 of the encoder's, where it can be chosen.
    Variant = Struct.new(:bytes, :number, :coding, :window) do
      def to_s
        size = "#{number} x #{bytes / 1_000_000} MB"
        window.zero? ? "#{coding}, #{size}" : "#{coding}, window #{(1 << window) >> 20} MiB, #{size}"
      end
    end

    CODINGS = [["gzip", 0], ["br", 20], ["br", 22], ["zstd", 20], ["zstd", 21]].freeze
    ENCODERS = { "gzip" => "gzip -6n", "br" => "brotli -q 4 -w %d", "zstd" => "zstd -q -3 --zstd=wlog=%d" }.freeze
    SIZES = [[10_000_000, 1], [10_000_000, 4], [1_000_000_000, 1]].freeze
    PROGRAM = RustProgram.new("bare-codings")
    GIGABYTE = 1 << 30
    QUICK_BYTES = 100_000_000
    PIECE_BYTES = 10_000_000

    # Each variant has a server of its own.
    def self.call(spec, options)
      SIZES.product(CODINGS).to_h do |(bytes, number), (coding, window)|
        variant = Variant.new(options.quick ? [bytes, QUICK_BYTES].min : bytes, number, coding, window)
        [variant, measure(spec, options, variant)]
      end
    end

    def self.measure(spec, options, variant)
      file = coded(variant)
      alone, alone_cpu = alone(variant, file)
      seen = ClientProcess.beside(spec, File.join(APPS, "size.ru"), "UploadClients") do |server, clients|
        Observation.of(spec, server, settle: options.settle) do
          clients.call(:upload, number: variant.number, path: "/", file: file,
                                headers: { "Content-Encoding" => variant.coding })
        end
      end
      rate = variant.bytes * variant.number / seconds(seen.value) / (1 << 20)
      { bodies: variant.number, rate: rate, alone_rate: alone, ratio: rate / alone, **seen.growth,
        edge_cpu: seen.front_cpu * GIGABYTE / variant.bytes / variant.number,
        alone_cpu: alone_cpu * GIGABYTE / variant.bytes, right: right(seen.value, variant) }
    end

    # The path of the coded data, made once: a piece again and again, which is longer than any window.
    def self.coded(variant)
      TestFile.item([variant.coding, variant.window, variant.bytes].join("-")) do |path|
        encoder = format(ENCODERS.fetch(variant.coding), variant.window)
        IO.popen("#{encoder} >#{path}", "wb") do |input|
          (variant.bytes / PIECE_BYTES).times { input.write(json_lines) }
        end
        raise Failure, "#{encoder} failed" unless Process.last_status.success?

        path
      end
    end

    # Such as a log shipper sends.
    def self.json_lines
      random = Random.new(1)
      @json_lines ||= Array.new(PIECE_BYTES / 100) do |number|
        JSON.generate(at: 1_700_000_000_000 + (number * 7), user: random.rand(50_000), trace: random.hex(8),
                      path: "/#{%w[orders items account cart login].sample(random: random)}",
                      status: random.rand(32).zero? ? 404 : 200, micros: random.rand(1 << 16), agent: "curl/8.5.0")
      end.join("\n").byteslice(0, PIECE_BYTES)
    end

    # Decoded MB a second, and CPU seconds for all of them.
    def self.alone(variant, file)
      PROGRAM.obstacle # builds now, or the build would count
      before = children_cpu
      fields = PROGRAM.start(variant.coding, file) { |output| output.scan(/(\w+)=(\d+)/).to_h }.finish
      fields.transform_values!(&:to_i)
      raise Failure, "#{variant} is #{fields["bytes"]} bytes long" unless fields.fetch("bytes") == variant.bytes

      [fields.fetch("bytes") * 1e9 / fields.fetch("nanoseconds") / (1 << 20), children_cpu - before]
    end

    # CPU seconds of the children that have ended.
    def self.children_cpu = Process.times.then { |times| times.cutime + times.cstime }

    def self.seconds(uploads) = uploads.map { |one| one[:ended] }.max - uploads.map { |one| one[:started] }.min

    def self.right(uploads, variant)
      uploads.count { |upload| upload[:status] == 200 && upload[:body] == variant.bytes.to_s }
    end

    def self.obstacle
      PROGRAM.obstacle || ENCODERS.each_value.filter_map do |command|
        command[/\w+/].then { |name| Executable.obstacle(name, "apt install #{name}") }
      end.first
    end

    private_class_method :measure, :coded, :json_lines, :alone, :children_cpu, :seconds, :right

    CASES = [
      Case.new(
        name: "decode", title: "Coded request bodies", servers: %w[carat-decode], variants: "bodies",
        measure: method(:call), needs: method(:obstacle),
        columns: [
          Column.new("decoded MB/s", :rate), Column.new("crate alone MB/s", :alone_rate),
          # Several bodies at once share the machine's processors.
          Column.new("of that", :ratio, places: 2, target: ->(row) { Target.at_least(0.8) if row[:bodies] == 1 }),
          Column.new("edge CPU s/GB", :edge_cpu, places: 2), Column.new("crate CPU s/GB", :alone_cpu, places: 2),
          *Column.growth(edge: ->(row) { Target.at_most(2 * row[:bodies]) }),
          Column.new("samples", :memory_samples, over: :min),
          Column.new("right", :right, over: :min, target: ->(row) { Target.at_least(row[:bodies]) })
        ]
      )
    ].freeze
  end
end
