# frozen_string_literal: true

require_relative "../processes/measures/jit"

module Carat
  module Warmup
    # Makes the JIT compile, in the mold, the code that warm-up requests run. All workers then share the machine code
    # and the compiler's own data about it, which is the largest part of a worker's memory, and their first requests are
    # fast.
    module Compilation
      # How often each request runs: more often than YJIT waits before it compiles a method, which is 30 calls, or 120
      # in a large application.
      ROUNDS = 130
      # The seconds after which no further request begins.
      SECONDS = 10
      private_constant :ROUNDS, :SECONDS

      module_function

      # Repeats the WarmupRequests `requests` if the process runs a JIT, and returns how many have succeeded. A request
      # that fails is not repeated again, because the application may limit its rate.
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
