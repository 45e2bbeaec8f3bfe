# frozen_string_literal: true

require_relative "line"

module Carat
  module Lab
    module Leak
      # What the censuses of one run say about the application. A leak must hold in the weakest round: not only the line
      # through all rounds rises, but also the one through the later half.
      class Verdict
        # The verdicts, the most harmless first.
        NAMES = ["no leak", "held by the allocator", "fragmentation", "bounded cache", "growing mappings",
                 "growing descriptors", "leak"].freeze

        # That of a sound application.
        CLEAN = NAMES.first

        # Those of which lines of Ruby are the reason.
        PLACED = ["bounded cache", "leak"].freeze

        # That of which blocks between free memory are the reason.
        BETWEEN = "fragmentation"

        # The later half grows at most this share of the earlier one: something is filling.
        SATURATION = 0.6

        # So many rounds in a row that grow at most this share of what the first half grew are the end of it.
        LAST_ROUNDS = 2
        FLAT = 0.1

        # Smaller slopes, in bytes a request, are those of counters that change their width.
        NOISE_BYTES = 0.5

        # Fewer objects a request are those that come and go.
        NOISE_OBJECTS = 0.01

        # Fewer bytes of pages a round are those of a page of Ruby's heap that has come or gone.
        NOISE_OF_PAGES = 64 * 1024

        # Fewer live bytes in all are those of tables and strings that Ruby makes wider and narrower.
        NOISE_OF_TABLES = 2 * 1024

        # A round takes a step when it gains at least this share of what the largest round gains: a block that doubles
        # takes steps that double.
        STEP = 0.4

        # The last step of such a block is the largest one, or nearly.
        LAST_STEP = 0.7

        # The time without a step, in times between the last two, after which growth has ended: a block that doubles
        # needs twice as long for its next step.
        REST = 2
        private_constant :SATURATION, :LAST_ROUNDS, :FLAT, :NOISE_BYTES, :NOISE_OBJECTS, :NOISE_OF_PAGES,
                         :NOISE_OF_TABLES, :STEP, :LAST_STEP, :REST

        # The measurements that `lines` has.
        MEASURES = %i[live objects active resident pss rss threads descriptors mappings].freeze

        # `censuses` are of one run, at least twice Line::POINTS_LIMIT.
        def initialize(censuses)
          @censuses = censuses
          middle = censuses.size / 2
          @early = censuses.first(middle + 1)
          @late = censuses.drop(middle)
        end

        # Returns one of NAMES.
        def name
          return "leak" if stepping?
          return ended if flat? || (grown?(:live) && saturating?(:live) && !steady?(:objects))
          return "leak" if grows?(:live)
          # The growth that only the line through all rounds shows has ended, unless the later half takes steps, too.
          return late_steps? ? "leak" : ended if certain?(lines.fetch(:live))
          return "growing descriptors" if grows?(:descriptors, NOISE_OBJECTS)
          return "fragmentation" if spreads?(:active)

          held
        end

        # The measurement whose growth is the reason; the live bytes if nothing grows.
        def measure
          case name
          when "fragmentation" then :active
          when "held by the allocator" then spreads?(:resident) ? :resident : :pss
          when "growing mappings" then :rss
          when "growing descriptors" then :descriptors
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
          return 1.0 if flat?

          speeds = [early(:live), late(:live)].map { |line| [line.slope, 0].max }
          (1 - (speeds.last / speeds.first)).clamp(0.0, 1.0)
        end

        # The largest gain of live bytes that no other round came near: it may be the step of a block that grows by more
        # than the run fills. Nil when there is none.
        def single_step
          gains[steps.first] if steps.one?
        end

        # Returns a Hash of Line by measurement.
        def lines
          @lines ||= MEASURES.to_h { |measure| [measure, through(@censuses, measure)] }
        end

        private

        # Growth of live bytes has ended; that of descriptors or mappings may go on beside it.
        def ended
          return "growing descriptors" if grows?(:descriptors, NOISE_OBJECTS)

          maps? ? "growing mappings" : "bounded cache"
        end

        # Pages that the allocator does not know of are those of mappings. Those that the mold shared with the worker
        # grow its PSS alone.
        def held
          return "held by the allocator" if spreads?(:resident)
          return "growing mappings" if maps?

          spreads?(:pss) ? "held by the allocator" : "no leak"
        end

        def grows?(measure, noise = NOISE_BYTES)
          [lines.fetch(measure), late(measure)].all? { |line| certain?(line, noise) }
        end

        # Whether pages are more and more, as fast as before: their number may settle only after thousands of requests.
        def spreads?(measure)
          round = (@censuses.last.requests - @censuses.first.requests).fdiv(@censuses.size - 1)
          grows?(measure, NOISE_OF_PAGES / round) && !saturating?(measure)
        end

        # Whether there are more and more pages of which the allocator does not know.
        def maps? = spreads?(:rss) && !spreads?(:resident)

        # Whether the first half rises, and every later census lies above those of the beginning.
        def grown?(measure)
          beginning = @censuses.first(@censuses.size / 3)
          gained = @late.map(&measure).min - beginning.map(&measure).max
          gained > NOISE_OF_TABLES && certain?(early(measure))
        end

        # Whether the growth has slowed down for certain, or has ended.
        def saturating?(measure)
          late(measure).interval.last < SATURATION * early(measure).slope
        end

        # Whether the live memory grows in steps, of which the next is not overdue. A block that is allocated anew, and
        # larger, takes such steps: its room does not show until the next.
        def stepping?
          before, last = steps.last(2)
          return false unless last && last - before > 1 && certain?(lines.fetch(:live))
          return false if gains[last] < LAST_STEP * gains.max

          gains.size - 1 - last < REST * (last - before)
        end

        def late_steps?
          steps.count { |round| round >= gains.size / 2 } > 1
        end

        # The rounds that take a step, from 0.
        def steps
          largest = gains.max
          return [] if largest <= NOISE_OF_TABLES * 2

          gains.each_index.select { |round| gains[round] >= STEP * largest }
        end

        # The live bytes that each round has added.
        def gains
          @gains ||= @censuses.each_cons(2).map { |before, after| after.live - before.live }
        end

        # Whether what grew in the first half has ended to grow before the last rounds, of which no slope knows.
        def flat?
          grown?(:live) && gain(:live) < FLAT * early(:live).slope && gain(:objects) < NOISE_OBJECTS
        end

        # Growth a request in the last rounds.
        def gain(measure)
          first, last = @censuses.last(LAST_ROUNDS + 1).minmax_by(&:requests)
          (last[measure] - first[measure]).fdiv(last.requests - first.requests)
        end

        # Whether it grows for certain, and as fast as before. Tables of Ruby's own, such as that of all Symbols, grow
        # in steps; the objects in them do not.
        def steady?(measure)
          slowest = late(measure).interval.first
          slowest > NOISE_OBJECTS && slowest >= SATURATION * early(measure).slope
        end

        def certain?(line, noise = NOISE_BYTES)
          line.rising? && line.slope > noise
        end

        def early(measure) = through(@early, measure)

        def late(measure) = through(@late, measure)

        def through(censuses, measure)
          Line.new(censuses.map(&:requests), censuses.map(&measure))
        end
      end
    end
  end
end
