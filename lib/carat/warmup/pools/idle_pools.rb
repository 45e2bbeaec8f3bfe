# frozen_string_literal: true

module Carat
  module Warmup
    # The thread pools of concurrent-ruby, such as the one of ActiveJob's async adapter. Their threads wait for work for
    # a minute, which would keep the process from becoming a mold.
    module IdlePools
      # How long to wait until a pool is asked again.
      PAUSE_SECONDS = 0.01
      private_constant :PAUSE_SECONDS

      module_function

      # The threads of all pools, also of those that have work: they will be idle.
      def threads
        pools.flat_map { |pool| all_of(pool).to_a }.filter_map { |worker| worker.instance_variable_get(:@thread) }
      end

      # Ends the threads of all pools that have no work within `seconds`; the next task of a pool starts new ones. The
      # threads of other pools stay.
      def stop(within: 0)
        deadline = now + within
        pools.each { |pool| sleep(PAUSE_SECONDS) until empty(pool) || now >= deadline }
      end

      def pools
        return [] unless Object.const_defined?(:Concurrent) && ::Concurrent.const_defined?(:RubyThreadPoolExecutor)
        return [] if ::Concurrent.autoload?(:RubyThreadPoolExecutor)

        ObjectSpace.each_object(::Concurrent::RubyThreadPoolExecutor).to_a
      end

      def all_of(pool) = pool.instance_variable_get(:@pool)

      # Returns whether no thread is left but those that stop now. The pool's own lock protects its lists. A worker that
      # stops removes itself from the list of all.
      def empty(pool)
        pool.send(:synchronize) do
          all = all_of(pool)
          ready = pool.instance_variable_get(:@ready)
          break true unless all && ready
          break false unless all.size == ready.size

          ready.clear
          all.each(&:stop)
          true
        end
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      private_class_method :pools, :all_of, :empty, :now
    end
  end
end
