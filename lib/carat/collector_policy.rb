# frozen_string_literal: true

module Carat
  # How far the garbage collector lets the heap grow, as variables of the mold, which reads them when it starts, and
  # whose workers inherit what it has read. The programs that the application starts have the user's own only.
  class CollectorPolicy
    # After a full collection Ruby grows the heap until 20 to 40 % of all slots are free, those counted in that a worker
    # shares with the mold: the larger the application, the more garbage each worker gathers in memory of its own.
    # docs/memory.md has the figures.
    FRUGAL = {
      "RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO" => "0.05",
      "RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO" => "0.10",
      "RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO" => "0.30",
      "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.05"
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
