# frozen_string_literal: true

module Carat
  module Warmup
    # The thread pools of concurrent-ruby, such as the one of ActiveJob's async adapter. Their threads wait for work for
    # a minute, which would keep the process from becoming a mold.
    module IdlePools
      module_function

      # Ends the threads of all pools that have no work; the next task of a pool starts new ones. The threads of other
      # pools stay.
      def stop
        return unless Object.const_defined?(:Concurrent) && ::Concurrent.const_defined?(:RubyThreadPoolExecutor)
        return if ::Concurrent.autoload?(:RubyThreadPoolExecutor)

        ObjectSpace.each_object(::Concurrent::RubyThreadPoolExecutor) { |pool| empty(pool) }
      end

      # The pool's own lock protects its lists. A worker that stops removes itself from the list of all.
      def empty(pool)
        pool.send(:synchronize) do
          all, ready = %i[@pool @ready].map { |name| pool.instance_variable_get(name) }
          break unless all && ready && all.size == ready.size

          ready.clear
          all.each(&:stop)
        end
      end

      private_class_method :empty
    end
  end
end
