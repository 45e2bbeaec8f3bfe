# frozen_string_literal: true

require "carat/log/relative_path"
require_relative "../allocations"
require_relative "../allocations/site"

module Carat
  module Lab
    module InTest
      # How many objects a block allocates: the median of some calls, after others that fill caches.
      class AllocationCheck
        # Calls before those that count.
        WARM_UP = 3

        # Calls that count.
        CALLS = 11

        # The places that a message names.
        SITES = 10
        CLASSES = 3
        OWN = File.expand_path("..", __dir__)
        private_constant :WARM_UP, :CALLS, :SITES, :CLASSES, :OWN

        # `limit` is a number of objects.
        def initialize(limit, block)
          raise ArgumentError, "no block given" unless block
          raise ArgumentError, "#{limit.inspect} is not a number of objects" unless limit.is_a?(Integer) && limit >= 0

          @limit = limit
          WARM_UP.times { block.call }
          @calls = Array.new(CALLS) { record(block) }.sort_by { |sites| sum(sites) }
        end

        # Whether the limit holds.
        def at_most?
          objects <= @limit
        end

        # The objects of a call.
        def objects
          sum(median)
        end

        # What has been measured, in words.
        def summary
          range = @calls.values_at(0, -1).map { |sites| sum(sites) }.uniq.join(" to ")
          "#{objects} objects a call (#{CALLS} calls: #{range}), at most #{@limit} are allowed"
        end

        # The message of a failure, with the places.
        def message
          shown = median.first(SITES)
          hidden = median.size - shown.size
          [summary, *shown.map { |site| describe(site) }, *("and #{hidden} more lines" if hidden.positive?)].join("\n")
        end

        private

        def median
          @calls[@calls.size / 2]
        end

        def record(block)
          Allocations.start
          block.call
          rows = Allocations.stop
          Allocations::Site.gather(rows) { |file| file.start_with?(OWN) }
        ensure
          Allocations.stop unless rows
        end

        def sum(sites)
          sites.sum(&:objects)
        end

        def describe(site)
          classes = site.classes.first(CLASSES).map { |name, count| "#{name} #{count}" }.join(", ")
          format("%6d objects, %d bytes: %s (%s)", site.objects, site.bytes, place(site), classes)
        end

        def place(site)
          site.file ? "#{Log::RelativePath.of(File.expand_path(site.file))}:#{site.line}" : "(unknown line)"
        end
      end
    end
  end
end
