# frozen_string_literal: true

require_relative "call_tree"
require_relative "report"

module Carat
  module Lab
    module Profile
      # What a profile by clocks says.
      class TimeReport < Report
        DETAILS = %w[seconds requests clocks interval samples lost cpu_seconds waited_seconds ran_seconds truncated
                     replaced].freeze
        SERIES = [[:cpu, "cpu", "CPU", "microseconds"], [:wall, "wall", "wall", "microseconds"],
                  [:gvl, "gvl", "waits for the GVL", "microseconds"]].freeze
        private_constant :DETAILS, :SERIES

        # What the tree is about.
        TITLE = "Time by call"

        private

        def kind = [CallTree::Time]
        def detail_names = DETAILS

        def series_rows
          SERIES.select { |member, *| @profile.fetch("clocks").include?(member.to_s) }
        end

        def numbers
          members = series.map(&:member)
          { microseconds: members.to_h { |member| [member, tree.calls.map { |call| call.weight[member] }] } }
        end
      end
    end
  end
end
