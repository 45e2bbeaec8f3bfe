# frozen_string_literal: true

require_relative "../native"

module Carat
  module Processes
    # glibc gives each thread an arena of its own, though Ruby's lock lets one of them allocate at a time: five threads
    # weigh 3.7 MB more with them (`bench/run --cases blog`), and are no faster.
    module Arenas
      LIMIT = 1
      # Who sets one of these has an opinion.
      VARIABLES = %w[MALLOC_ARENA_MAX GLIBC_TUNABLES].freeze

      module_function

      # Has threads that are started from now on share one arena where glibc is the allocator. Returns whether they do.
      def limit(environment, allocator: Native.allocator.fetch(:name))
        return false unless allocator.start_with?("glibc") && VARIABLES.none? { |name| environment.key?(name) }

        Native.limit_arenas(LIMIT)
      end
    end
  end
end
