# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # glibc gives each thread an arena of its own, although the GVL lets only one allocate at a time. Five threads then
    # take 3.7 MB more and are no faster.
    module Arenas
      # The number of arenas.
      LIMIT = 1

      # Setting one of these is a choice of the user.
      VARIABLES = %w[MALLOC_ARENA_MAX GLIBC_TUNABLES].freeze

      module_function

      # Makes new threads share one arena if glibc is the allocator. Returns whether they do.
      def limit(environment, allocator: Native.allocator.fetch(:name))
        return false unless allocator.start_with?("glibc") && VARIABLES.none? { |name| environment.key?(name) }

        Native.limit_arenas(LIMIT)
      end
    end
  end
end
