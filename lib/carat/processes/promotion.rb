# frozen_string_literal: true

require_relative "../warmup"
require_relative "../warmup/agents"
require_relative "../warmup/fork_safety"
require_relative "../warmup/pools/idle_pools"
require_relative "boot_failure"
require_relative "forker"
require_relative "measures/oom_score"
require_relative "signals"
require_relative "worker_exit"

module Carat
  module Processes
    # The role of a worker that becomes the mold of the next generation. Its lanes have ended. The next workers share
    # the memory that it has filled while it served: caches, compiled templates, schemas.
    class Promotion
      # `control` is the worker's Native::Control, `context` an AppContext, and `generation` the number of the new
      # generation.
      def initialize(control, context, generation)
        @control = control
        @context = context
        @generation = generation
      end

      # Returns the Forker, the next role of this process. Returns nil when the process cannot be a mold, and has to
      # exit.
      def run
        Signals.ignore
        return @control.not_fork_safe(Warmup::ForkSafety.objection) if Warmup::ForkSafety.objection

        @context.configuration.hooks.run(:before_refork)
        Warmup::Agents.flush(log: @context.log)
        Warmup::IdlePools.stop(within: Warmup::ForkSafety::GRACE_SECONDS)
        remark = Warmup::ForkSafety.remark
        # Not worth another attempt: other workers of this generation have the same threads.
        return @control.not_fork_safe(remark) if remark

        become_mold
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge receives whatever it is
        @control.boot_failed(BootFailure.new(e).to_s)
        exit(1)
      end

      private

      # Prepares the heap and reports that the mold is ready. The report comes last, so that the old mold stays if
      # anything fails before.
      def become_mold
        Process.setproctitle("carat: mold gen=#{@generation}")
        OomScore.server.raise_by(OomScore::MOLD)
        Warmup.run(log: @context.log)
        @context.configuration.hooks.run(:after_refork)
        warn_of_threads
        WorkerExit.leave_files
        @control.ready
        Forker.new(@control, @context)
      end

      # Warns of threads that after_refork has started: they run in the mold, and workers will not have them.
      def warn_of_threads
        remark = Warmup::ForkSafety.remark(within: 0)
        @context.log.warn("after_refork: #{remark}") if remark
      end
    end
  end
end
