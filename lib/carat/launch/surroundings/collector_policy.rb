# frozen_string_literal: true

module Carat
  module Launch
    # Environment variables of the mold that say how fast the garbage collector lets the heap grow. Ruby reads them when
    # the mold starts, and workers inherit the values. Programs that the application starts do not see the variables.
    class CollectorPolicy
      # The limits of growth, which depend on Ruby. Before Ruby 3.4, the whole heap grows at once. From 3.4 on, each
      # size of slots that is short of free ones in the three collections after a full one adds a step to the growth,
      # which all sizes share: with the values for older Rubies, workers had up to 94 000 more slots. Ruby 4.1 counts a
      # step in bytes for each size.
      MIN_RATIO, STEP, MOST =
        if RUBY_VERSION < "3.4" then %w[0.05 SLOTS 30000]
        elsif RUBY_VERSION < "4.1" then %w[0.02 SLOTS 20000]
        else %w[0.02 BYTES 800000]
        end
      # Of the slots that a boot has dropped, Ruby 3.4 keeps as many as these figures add up to, 10 000 each by default.
      INITIAL =
        RUBY_VERSION.start_with?("3.4") ? (0..4).to_h { |pool| ["RUBY_GC_HEAP_#{pool}_INIT_SLOTS", "1000"] } : {}
      private_constant :MIN_RATIO, :STEP, :MOST, :INITIAL
      # Values for a heap with little room for garbage. By default, a heap with less than 20 % free slots after a full
      # collection grows by up to 67 %. Slots shared with the mold count, so that in a large application each worker
      # keeps much garbage in private memory. Here the heap grows below MIN_RATIO (10 000 slots in a small heap), by up
      # to 43 % or MOST (30 000 slots are 1.2 MB). The growth must be well above the threshold: with 5 % for both, every
      # few requests run a full collection. A worker that needs more gets it: see Processes::HeapRoom and
      # docs/decisions/0016-room-for-garbage.md.
      FRUGAL = {
        "RUBY_GC_HEAP_FREE_SLOTS" => "10000",
        "RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO" => MIN_RATIO,
        "RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO" => "0.30",
        "RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO" => "0.50",
        "RUBY_GC_HEAP_GROWTH_MAX_#{STEP}" => MOST,
        **INITIAL
      }.freeze
      # The variable that lists the names of the variables that Carat has set.
      NAMES = "CARAT_GC_VARIABLES"

      # Removes Carat's variables from `environment`, the mold's ENV.
      def self.restore(environment)
        environment.delete(NAMES).to_s.split.each { |name| environment.delete(name) }
      end

      # `environment` is the user's environment.
      def initialize(configuration, environment)
        @policy = configuration[:gc]
        @user = environment
      end

      # Returns a Hash of Strings by name, without the variables that the user has set.
      def variables
        ours = policy_variables.reject { |name, _| @user.key?(name) }
        ours.empty? ? {} : { **ours, NAMES => ours.keys.join(" ") }
      end

      private

      def policy_variables
        return @policy if @policy.is_a?(Hash)

        @policy == "frugal" ? FRUGAL : {}
      end
    end
  end
end
