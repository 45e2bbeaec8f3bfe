# frozen_string_literal: true

require_relative "../processes/measures/jit"

module Carat
  module Warmup
    # Makes the JIT compile in the mold what the warm-up requests run. All workers then share the machine code and the
    # memory in which the compiler describes it, which weigh more than the rest of a worker, and their first requests
    # are fast.
    module Compilation
      # More calls than YJIT waits for before it compiles a method: 30, or 120 in a large application.
      ROUNDS = 130
      # Time after which no further request begins.
      SECONDS = 10
      private_constant :ROUNDS, :SECONDS

      module_function

      # Repeats the WarmupRequests `requests` while the process runs a JIT, and returns how many it has made. A
      # request that fails is not repeated again: the application may limit its rate.
      def run(requests, deadline:, jit: Processes::JIT.name)
        return 0 unless jit && requests.any?

        finish = [deadline, now + SECONDS].min
        good = requests
        (1..ROUNDS).sum { (good = good.select { |it| now < finish && it.run(deadline:) }).size }
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      private_class_method :now
    end
  end
end
