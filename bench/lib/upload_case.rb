# frozen_string_literal: true

require_relative "bound"
require_relative "client_process"
require_relative "figure"
require_relative "material"
require_relative "observation"
require_relative "series"
require_relative "server"
require_relative "table"

module Bench
  # Bodies that are sent to an application that answers their SHA-256.
  class UploadCase
    # So many uploads at once of so many bytes each; rate: bytes a second of each, or nil.
    Variant = Struct.new(:megabytes, :number, :chunked, :rate, keyword_init: true) do
      # A tenth of the size when the run is to be quick.
      def bytes(quick)
        (megabytes << 20) / (quick ? 10 : 1)
      end

      def to_s
        speed = rate ? "#{rate / 1_000_000} MB/s" : "full speed"
        "#{number} x, #{chunked ? 'chunked' : 'Content-Length'}, #{speed}"
      end
    end
    # front, worker: bytes that these processes grew by; whole: how many uploads were answered with their digest;
    # CPU in seconds a GB.
    Sample = Struct.new(:seconds, :front, :worker, :whole, :front_cpu, :all_cpu, :samples, keyword_init: true)
    HEADINGS = ["server", "uploads", "seconds", "edge +MB", "worker +MB", "digests right", "edge CPU s/GB",
                "all CPU s/GB", "samples"].freeze
    GIGABYTE = 1 << 30
    MEGABYTE = 1 << 20

    attr_reader :title, :peers

    # asked: a callable that takes a Variant and gives the Bounds of edge and worker, in MB.
    def initialize(title:, app:, peers:, variants:, asked:)
      @title = title
      @app = app
      @peers = peers
      @variants = variants
      @asked = asked
    end

    # Variant => Sample; each has a server of its own, since what one upload leaves behind the next would not show.
    def measure(peer, arguments)
      @variants.to_h do |variant|
        body = Material.random(variant.bytes(arguments.quick))
        seen = ClientProcess.beside(peer, @app, "upload_clients") do |server, clients|
          Observation.of(server, settle: arguments.settle) { upload(clients, variant, body) }
        end
        [variant, sample(peer, seen, body, variant)]
      end
    end

    # samples: Peer => list of Variant => Sample.
    def table(samples)
      rows = @variants.product(samples.to_a).map do |variant, (peer, rounds)|
        row(peer, variant, rounds.map { |round| round.fetch(variant) })
      end
      rows.reduce(Table.new(HEADINGS), :<<)
    end

    private

    def upload(clients, variant, body)
      clients.order(:upload, number: variant.number, path: "/", file: body.path, chunked: variant.chunked,
                             rate: variant.rate)
    end

    def sample(peer, seen, body, variant)
      gigabytes = (body.bytes * variant.number).fdiv(GIGABYTE)
      Sample.new(seconds: seen.seconds, samples: seen.growth.samples,
                 front: seen.growth.of(peer.front_role), worker: seen.growth.of(peer.worker_role),
                 whole: seen.value.count { |upload| upload[:status] == 200 && upload[:body] == body.sha256 },
                 front_cpu: seen.cpu.fetch(peer.front_role) / gigabytes, all_cpu: seen.cpu.values.sum / gigabytes)
    end

    def row(peer, variant, list)
      front, worker = @asked.call(variant)
      [peer.name, variant, median(list, &:seconds),
       peer.alone? ? Figure::NONE : growth(peer, front, list.map(&:front)), growth(peer, worker, list.map(&:worker)),
       whole(peer, list, variant), peer.alone? ? Figure::NONE : median(list, &:front_cpu), median(list, &:all_cpu),
       list.map(&:samples).min]
    end

    def median(list, &)
      Figure.decimals(Series.new(list.map(&)).median, 2)
    end

    # The most of all rounds.
    def growth(peer, bound, bytes)
      most = bytes.max.fdiv(MEGABYTE)
      peer.judged(bound, most, Figure.decimals(most, 2))
    end

    def whole(peer, list, variant)
      peer.judged(Bound.at_least(list.size * variant.number), list.sum(&:whole))
    end
  end
end
