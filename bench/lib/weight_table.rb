# frozen_string_literal: true

require_relative "bound"
require_relative "figure"
require_relative "line_fit"
require_relative "series"
require_relative "table"

module Bench
  # The tables of a WeightCase: what so many workers weigh, what each further one adds, and what that consists of.
  class WeightTable
    SIZES = ["server", "workers", "PSS MB after boot", "after the load", "of that",
             "private MB of a worker after boot", "after the load", "requests of a worker", "failed"].freeze
    FITS = ["server", "after boot: a MB", "b MB a worker", "after the load: a MB", "b MB a worker"].freeze
    ORIGINS = ["server", "workers", "no longer shared MB", "new MB", "of files MB"].freeze
    SLOPE = Bound.at_most(0.25)

    # samples: Peer => list of WeightCase::Sample; base, bare: see WeightCase.
    def initialize(samples, base:, bare:)
      @samples = samples
      @base = base
      @bare = bare
    end

    def to_s
      [sizes, fits, origins].join("\n")
    end

    # What a server is called without the number of its workers.
    def self.line(peer)
      peer.name.delete_suffix("-w#{peer.workers}")
    end

    private

    def sizes
      @samples.each_with_object(Table.new(SIZES)) do |(peer, list), table|
        table << [peer.name, peer.workers, *pss(list), Figure.roles(list.last.loaded.roles),
                  *%i[boot loaded].map { |time| megabytes(list) { |sample| sample[time].worker_private_bytes } },
                  shares(list), peer.judged(Bound.at_most(0), list.sum(&:failed))]
      end
    end

    def pss(list)
      %i[boot loaded].map { |time| megabytes(list) { |sample| sample[time].pss } }
    end

    # How evenly the requests were spread.
    def shares(list)
      list.flat_map(&:served).minmax.uniq.map { |count| Figure.count(count) }.join("-")
    end

    def fits
      slopes = lines.to_h { |line, peers| [line, fit(peers, :loaded).slope] }
      table = Table.new([*FITS, "b beyond a bare worker MB", "b x #{@base}"])
      lines.each do |line, peers|
        figures = %i[boot loaded].map { |time| fit(peers, time) }
        table << [line, *figures.flat_map(&:to_a).map { |bytes| Figure.megabytes(bytes) },
                  beyond_bare(slopes.fetch(line)), compared(peers.first, line, slopes)]
      end
      table
    end

    # A line takes two points.
    def lines
      @samples.keys.group_by { |peer| self.class.line(peer) }.select { |_, peers| peers.size > 1 }
    end

    def fit(peers, time)
      LineFit.of(peers.map { |peer| [peer.workers, median(@samples.fetch(peer)) { |sample| sample[time].pss }] })
    end

    # What a worker adds, less what one has for itself whose application keeps nothing.
    def beyond_bare(slope)
      peer = @samples.keys.select { |one| self.class.line(one) == @bare }.max_by(&:workers)
      return Figure::NONE unless peer

      Figure.megabytes(slope - median(@samples.fetch(peer)) { |sample| sample.loaded.worker_private_bytes })
    end

    # It is asked of Carat as it comes, with the application that weighs something.
    def compared(peer, line, slopes)
      return Figure::NONE unless slopes.key?(@base)

      ratio = slopes.fetch(line) / slopes.fetch(@base)
      text = Figure.decimals(ratio, 2)
      line == lines.keys.first ? peer.judged(SLOPE, ratio, text) : text
    end

    def origins
      largest = @samples.keys.group_by { |peer| self.class.line(peer) }.values.map { |peers| peers.max_by(&:workers) }
      largest.each_with_object(Table.new(ORIGINS)) do |peer, table|
        known = @samples.fetch(peer).filter_map(&:origin)
        next if known.empty?

        table << [peer.name, peer.workers, *known.first.members.map { |part| megabytes(known, &part) }]
      end
    end

    def megabytes(list, &)
      Figure.megabytes(median(list, &))
    end

    def median(list, &)
      Series.new(list.map(&)).median
    end
  end
end
