# frozen_string_literal: true

module Carat
  module Launch
    # How far the garbage collector lets the heap grow, as variables of the mold, which reads them when it starts, and
    # whose workers inherit what it has read. The programs that the application starts have the user's own only.
    class CollectorPolicy
      # Ruby grows a heap of which a full collection finds less than 20 % free by up to 67 %. It counts the slots that a
      # worker shares with the mold, so a large application leaves each worker room for much garbage in private memory.
      # These figures grow it below 10 % (20 000 slots in a small heap), by up to 43 % or 60 000 slots (2.3 MB). The
      # step must exceed what has to be free: with 5 % for both, full collections ask for it again and again.
      # docs/decisions/0016-frugal-garbage-collection.md has the measurements.
      FRUGAL = {
        "RUBY_GC_HEAP_FREE_SLOTS" => "20000",
        "RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO" => "0.10",
        "RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO" => "0.30",
        "RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO" => "0.50",
        "RUBY_GC_HEAP_GROWTH_MAX_SLOTS" => "60000"
      }.freeze
      # The names of the variables that are ours.
      NAMES = "CARAT_GC_VARIABLES"

      # Takes our variables out of `environment`, the mold's ENV.
      def self.restore(environment)
        environment.delete(NAMES).to_s.split.each { |name| environment.delete(name) }
      end

      # `environment` is the user's.
      def initialize(configuration, environment)
        @policy = configuration[:gc]
        @user = environment
      end

      # Returns a Hash of Strings by name; what the user has set is left as it is, variable by variable.
      def variables
        ours = figures.reject { |name, _| @user.key?(name) }
        ours.empty? ? {} : { **ours, NAMES => ours.keys.join(" ") }
      end

      private

      def figures
        return @policy if @policy.is_a?(Hash)

        @policy == "frugal" ? FRUGAL : {}
      end
    end
  end
end
