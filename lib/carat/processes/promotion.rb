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
    # The role of a worker that becomes the mold of the next generation: its lanes have ended, and the next workers
    # share what it has filled while it served (caches, compiled templates, schemas).
    class Promotion
      # `control` is the worker's Native::Control, `context` an AppContext, `generation` that of the new mold.
      def initialize(control, context, generation)
        @control = control
        @context = context
        @generation = generation
      end

      # Returns the Forker, the next role of this process, or nil when the process cannot be a mold and exits.
      def run
        Signals.ignore
        return @control.not_fork_safe(Warmup::ForkSafety.objection) if Warmup::ForkSafety.objection

        @context.configuration.hooks.run(:before_refork)
        Warmup::Agents.flush(log: @context.log)
        Warmup::IdlePools.stop(within: Warmup::ForkSafety::GRACE_SECONDS)
        remark = Warmup::ForkSafety.remark
        # Other workers of this generation have the same threads: only a new one is worth another attempt.
        return @control.not_fork_safe(remark) if remark

        become_mold
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge receives whatever it is
        @control.boot_failed(BootFailure.new(e).to_s)
        exit(1)
      end

      private

      # READY comes last: if anything fails before, the old mold stays.
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

      # Threads that after_refork has started: they run in the mold, and workers do not have them.
      def warn_of_threads
        remark = Warmup::ForkSafety.remark(within: 0)
        @context.log.warn("after_refork: #{remark}") if remark
      end
    end
  end
end
