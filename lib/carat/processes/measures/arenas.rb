# frozen_string_literal: true

require_relative "../../native"

module Carat
  module Processes
    # The arenas of glibc's allocator. glibc gives each thread its own arena, although the GVL lets only one thread
    # allocate at a time: five threads then take 3.7 MB more and are no faster.
    module Arenas
      # The number of arenas that all threads share.
      LIMIT = 1

      # The variables by which a user chooses the number of arenas.
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
