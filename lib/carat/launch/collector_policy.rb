# frozen_string_literal: true

module Carat
  module Launch
    # How far the garbage collector lets the heap grow, as variables of the mold, which reads them when it starts, and
    # whose workers inherit what it has read. The programs that the application starts have the user's own only.
    class CollectorPolicy
      # Ruby grows a heap of which a full collection finds less than 20 % free by up to 67 %, and counts the slots that
      # a worker shares with the mold: the larger the application, the more garbage each worker gathers in memory of its
      # own. Here it is less than 10 %, or 20 000 slots in a small heap, which then grows by up to 43 %, or 60 000 slots
      # (2.3 MB). What is grown by must be well above what is asked for: where both are 5 %, it is asked for again and
      # again, with a full collection each time. docs/memory.md has the figures.
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
