# frozen_string_literal: true

module Carat
  module Config
    # The blocks of the config file that run when processes boot, fork and stop.
    class Hooks
      # Each hook's name, and when its blocks run.
      TABLE = {
        on_mold_boot: "In the mold, once, after it has loaded the application.",
        before_fork: "In the mold, before each fork of a worker: close what must not be shared.",
        after_fork: "In each new worker, right after the fork: reopen connections.",
        on_worker_boot: "In each worker, before its first request.",
        on_quiet_worker: "In a worker that serves nobody, before the full garbage collection for which it was emptied.",
        on_worker_shutdown: "In each worker, after its last request.",
        on_process_boot: "In each `process`, with its name, before its block: reopen connections.",
        on_process_shutdown: "In each `process`, with its name, after its block; not after a command.",
        before_refork: "In the worker that becomes the next mold: close what must not be shared, stop threads.",
        after_refork: "In that worker, once it is the mold."
      }.freeze

      def initialize
        @blocks = TABLE.transform_values { [] }
      end

      # Adds a block to the hook called `name`; raises KeyError for a name that is not in TABLE.
      def add(name, &block)
        @blocks.fetch(name) << block
      end

      # Whether the hook has a block. Raises KeyError for a name that is not in TABLE.
      def any?(name) = @blocks.fetch(name).any?

      # Calls the hook's blocks with `arguments` in the order of their declaration. Raises the errors of the blocks,
      # and KeyError for a name that is not in TABLE.
      def run(name, *arguments)
        @blocks.fetch(name).each { |block| block.call(*arguments) }
      end
    end
  end
end
