# frozen_string_literal: true

require_relative "line"

module Carat
  module Lab
    module Leak
      # What the censuses of one run say about the application. A leak must hold in the weakest round: not only the line
      # through all rounds rises, but also the one through the later half.
      class Verdict
        # The verdicts, the most harmless first.
        NAMES = ["no leak", "held by the allocator", "fragmentation", "bounded cache", "leak"].freeze

        # That of a sound application.
        CLEAN = NAMES.first

        # Those of which lines of Ruby are the reason.
        PLACED = NAMES.last(2).freeze

        # That of which blocks between free memory are the reason.
        BETWEEN = "fragmentation"

        # The later half grows at most this share of the earlier one: something is filling.
        SATURATION = 0.6

        # Smaller slopes, in bytes a request, are those of counters that change their width.
        NOISE_BYTES = 0.5

        # Fewer objects a request are those that come and go.
        NOISE_OBJECTS = 0.01
        private_constant :SATURATION, :NOISE_BYTES, :NOISE_OBJECTS

        # The measurements that `lines` has.
        MEASURES = %i[live objects active resident pss threads].freeze

        # `censuses` are of one run, at least twice Line::POINTS_LIMIT.
        def initialize(censuses)
          @censuses = censuses
          middle = censuses.size / 2
          @early = censuses.first(middle + 1)
          @late = censuses.drop(middle)
        end

        # Returns one of NAMES.
        def name
          return "bounded cache" if grown?(:live) && saturating?(:live) && !steady?(:objects)
          return "leak" if grows?(:live)
          return "fragmentation" if grows?(:active)
          return "held by the allocator" if grows?(:resident) || grows?(:pss)

          "no leak"
        end

        # The measurement whose growth is the reason; the live bytes if nothing grows.
        def measure
          case name
          when "fragmentation" then :active
          when "held by the allocator" then grows?(:resident) ? :resident : :pss
          else :live
          end
        end

        # The Line of that measurement; for a cache, that of the first half, in which it fills.
        def line
          name == "bounded cache" ? early(:live) : lines.fetch(measure)
        end

        # How much of a bounded cache is full, from 0 to 1, if it fills ever more slowly; nil for other verdicts.
        def filled
          return unless name == "bounded cache"

          speeds = [early(:live), late(:live)].map { |line| [line.slope, 0].max }
          (1 - (speeds.last / speeds.first)).clamp(0.0, 1.0)
        end

        # Returns a Hash of Line by measurement.
        def lines
          @lines ||= MEASURES.to_h { |measure| [measure, through(@censuses, measure)] }
        end

        private

        def grows?(measure)
          [lines.fetch(measure), late(measure)].all? { |line| certain?(line) }
        end

        # Whether the first half rises, and every later census lies above those of the beginning.
        def grown?(measure)
          beginning = @censuses.first(@censuses.size / 3)
          certain?(early(measure)) && @late.map(&measure).min > beginning.map(&measure).max
        end

        # Whether the growth has slowed down for certain, or has ended.
        def saturating?(measure)
          late(measure).interval.last < SATURATION * early(measure).slope
        end

        # Whether it grows for certain, and as fast as before. Tables of Ruby's own, such as that of all Symbols, grow
        # in steps; the objects in them do not.
        def steady?(measure)
          slowest = late(measure).interval.first
          slowest > NOISE_OBJECTS && slowest >= SATURATION * early(measure).slope
        end

        def certain?(line)
          line.rising? && line.slope > NOISE_BYTES
        end

        def early(measure)
          through(@early, measure)
        end

        def late(measure)
          through(@late, measure)
        end

        def through(censuses, measure)
          Line.new(censuses.map(&:requests), censuses.map(&measure))
        end
      end
    end
  end
end
