# frozen_string_literal: true

require_relative "../warmup"
require_relative "../warmup/fork_safety"
require_relative "boot_failure"
require_relative "forker"
require_relative "oom_score"
require_relative "signals"

module Carat
  module Processes
    # A worker on its way to be the mold of the next generation: its lanes have ended, and what it has filled while it
    # served (caches, compiled templates, schemas) is what the next workers begin with, and share.
    class Promotion
      # `control` is the worker's Native::Control, `loaded` a Loaded, `generation` that of the new mold.
      def initialize(control, loaded, generation)
        @control = control
        @loaded = loaded
        @generation = generation
      end

      # Returns the Forker that this process is from now on, or nil when it can be none and has to end.
      def run
        Signals.ignore
        return @control.not_fork_safe(Warmup::ForkSafety.objection) if Warmup::ForkSafety.objection

        @loaded.configuration.hooks.run(:before_refork)
        remark = Warmup::ForkSafety.remark
        return @control.boot_failed(remark) if remark

        become_mold
      rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, the edge is told before the end
        @control.boot_failed(BootFailure.new(e).to_s)
        exit(1)
      end

      private

      # The edge is told last: whatever fails before leaves the old mold where it is.
      def become_mold
        Process.setproctitle("carat: mold gen=#{@generation}")
        OomScore.server.raise_by(OomScore::MOLD)
        Warmup.run
        @loaded.configuration.hooks.run(:after_refork)
        tell_of_threads
        @control.ready
        Forker.new(@control, @loaded)
      end

      # Of those that after_refork has started: they are meant to run in the mold, and workers do not have them.
      def tell_of_threads
        remark = Warmup::ForkSafety.remark(within: 0)
        $stderr.write("carat: mold: after_refork: #{remark}\n") if remark
      end
    end
  end
end
