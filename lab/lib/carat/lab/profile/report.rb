# frozen_string_literal: true

require_relative "../lab_error"
require_relative "call_tree"
require_relative "export/series"

module Carat
  module Lab
    module Profile
      # What a profile says. lab/docs/profile.md describes the Hash.
      class Report
        # Rises when a reader of an older version would misunderstand the Hash.
        SCHEMA = 1

        DETAILS = %w[seconds requests sampling_bytes sampling_bytes_at_end samples native truncated
                     replaced].freeze
        SERIES = [[:bytes, "alloc_space", "allocated", "bytes"],
                  [:objects, "alloc_objects", "allocated objects", "count"],
                  [:live_bytes, "inuse_space", "still live", "bytes"],
                  [:live_objects, "inuse_objects", "live objects", "count"]].freeze
        private_constant :DETAILS, :SERIES

        # What the tree is about.
        TITLE = "Memory by call"

        # The CallTree.
        attr_reader :tree

        # `reply` is what the server says, parsed; `source` is a Hash, what was measured. Raises LabError.
        def initialize(reply, source, interrupted: false)
          @profile = reply.fetch("profile")
          raise LabError, "carat: #{@profile["error"]}" if @profile["error"].is_a?(String)

          @source = source
          @pid = reply.fetch("pid")
          @interrupted = interrupted
          @tree = CallTree.new(@profile, *kind)
        rescue IndexError, TypeError, NoMethodError
          raise LabError, "carat: the worker does not send a profile"
        end

        # Returns what the profile is about, by name.
        def details
          measured = detail_names.to_h { |name| [name.to_sym, @profile[name]] }
          { source: @source, pid: @pid, **measured, interrupted: @interrupted }
        end

        # Returns the numbers that each call has, as Series.
        def series
          series_rows.map { |row| Series.new(*row, tree) }
        end

        # Returns the Hash.
        def to_h
          calls = tree.calls
          { schema: SCHEMA, **details, frames: tree.frames.map(&:to_h),
            stacks: { prefix: calls.map(&:caller), frame: calls.map(&:frame) }, **numbers }
        end

        private

        # A Report of another kind has others of these four.
        def kind = []
        def detail_names = DETAILS
        def series_rows = SERIES

        def numbers
          { allocations: weights(:bytes, :objects), live: weights(:live_bytes, :live_objects) }
        end

        def weights(bytes, objects)
          { bytes:, objects: }.transform_values { |member| tree.calls.map { |call| call.weight[member] } }
        end
      end
    end
  end
end
