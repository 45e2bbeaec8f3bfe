# frozen_string_literal: true

module Carat
  module Warmup
    # The thread pools of concurrent-ruby, such as that of ActiveJob's async adapter. Their threads wait for work for a
    # minute before they end, and would keep the process from becoming a mold for that minute.
    module IdlePools
      # The seconds between two attempts to end the threads of a pool.
      PAUSE_SECONDS = 0.01
      # The seconds until a new task is due that wakes the timer thread of concurrent-ruby, so that it looks at its
      # tasks again. A task that is due within 0.01 s would not wake the thread.
      WAKE_SECONDS = 0.02
      private_constant :PAUSE_SECONDS, :WAKE_SECONDS

      module_function

      # The threads of all pools, also of pools that have work, because they will be idle later.
      def threads
        pools.flat_map { |pool| all_of(pool).to_a }.filter_map { |worker| worker.instance_variable_get(:@thread) }
      end

      # Ends the threads of all pools that get idle within `seconds`; the next task of such a pool starts new threads.
      # The threads of other pools stay.
      def stop(within: 0)
        deadline = now + within
        drop_timers
        pools.each { |pool| sleep(PAUSE_SECONDS) until empty(pool) || now >= deadline }
      end

      # Cancels what TimerTasks that were shut down have left: the ScheduledTask of the next run. The timer thread would
      # wait until that is due.
      def drop_timers
        tasks = all(:ScheduledTask)
        return if tasks.empty?

        tasks.select { |task| task.pending? && over?(task) }.each(&:cancel)
        ::Concurrent::ScheduledTask.execute(WAKE_SECONDS, executor: :immediate) { nil } # no other pool runs it
      end

      def over?(task)
        owner = task.instance_variable_get(:@task)&.binding&.receiver
        owner.is_a?(::Concurrent::TimerTask) && !owner.running?
      rescue ArgumentError
        false # the block is no Ruby code
      end

      def pools
        all(:RubyThreadPoolExecutor)
      end

      def all(name)
        return [] unless Object.const_defined?(:Concurrent) && ::Concurrent.const_defined?(name)
        return [] if ::Concurrent.autoload?(name)

        ObjectSpace.each_object(::Concurrent.const_get(name)).to_a
      end

      def all_of(pool) = pool.instance_variable_get(:@pool)

      # Ends the threads of a pool if all are idle, and returns whether all have ended or are about to. The pool's own
      # lock protects its lists. A thread that ends removes itself from the list of all.
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

      private_class_method :drop_timers, :over?, :pools, :all, :all_of, :empty, :now
    end
  end
end
