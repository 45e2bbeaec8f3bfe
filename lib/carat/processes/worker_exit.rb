# frozen_string_literal: true

require_relative "../log/process_log"
require_relative "output"

module Carat
  module Processes
    # The exit of a worker: it runs the at_exit blocks that it has registered, not those inherited from the mold, which
    # may remove what all processes share: a socket, a directory, a pid file.
    module WorkerExit
      module_function

      # Call it first in the new process. Blocks run in reverse order, so this one runs after the worker's own and exits
      # before the inherited ones. With `by_signal`, the process dies by the signal that ended its main thread.
      def arrange(log: Log::ProcessLog.new, by_signal: false)
        at_exit do
          error = $! # rubocop:disable Style/SpecialGlobalVars -- the alternative loads the English library
          report(error, log)
          end_threads
          remove_temporary_files(log)
          Output.flush
          kill(error.signo) if by_signal && error.is_a?(SignalException)
        ensure
          exit!(status(error)) unless @inherits
        end
      end

      # Exits a mold when the server stops, with all blocks: no other process is left to run them.
      def of_server
        @inherits = true
        exit
      end

      # Ruby itself would report it after the blocks.
      def report(error, log)
        case error
        when nil, SystemExit, SignalException then nil
        else log.application_error(error)
        end
      end

      # As Ruby does, so that `ensure` blocks run.
      def end_threads
        Thread.list.reject { |thread| thread.equal?(Thread.current) }.each(&:kill).each do |thread|
          thread.join
        rescue StandardError, ScriptError
          # The thread has reported its error.
        end
      end

      # exit! runs no finalizers. Those of Tempfile remove files whose names contain this process id. In a process that
      # has had a Ractor, Ruby does not show these objects, and the files stay.
      def remove_temporary_files(log)
        return unless Object.const_defined?(:Tempfile) && !Object.autoload?(:Tempfile)

        mine = /-#{Process.pid}-[^\/]*\z/
        ObjectSpace.each_object(::Tempfile) { |file| remove(file, log) if path(file)&.match?(mine) }
      end

      def remove(file, log)
        file.close!
      rescue IOError, SystemCallError => e
        log.failure("cannot remove a temporary file", e)
      end

      # nil as well for an object whose file could not be created: Tempfile asks nil for its path, or delegates to none.
      def path(file)
        file.path
      rescue NoMethodError, ArgumentError
        nil
      end

      def kill(signal)
        trap(signal, "SYSTEM_DEFAULT")
        Process.kill(signal, Process.pid)
      end

      def status(error)
        case error
        when nil then 0
        when SystemExit then error.status
        when SignalException then 128 + error.signo
        else 1
        end
      end

      private_class_method :report, :end_threads, :remove, :path, :kill, :status
    end
  end
end
