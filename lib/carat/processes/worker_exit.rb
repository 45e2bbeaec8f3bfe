# frozen_string_literal: true

require_relative "../response/error_report"
require_relative "output"

module Carat
  module Processes
    # How a worker ends: with the at_exit blocks that it has registered itself, and without those that it has inherited,
    # which are the mold's. They remove what all share: a socket, a directory, a pid file.
    module WorkerExit
      module_function

      # To be called before anything else in the new process: blocks run in reverse, so that this one runs last of its
      # own and ends the process before Ruby comes to the inherited ones.
      def arrange(log: $stderr)
        at_exit do
          error = $! # rubocop:disable Style/SpecialGlobalVars -- the English library would be loaded for it
          report(error, log)
          end_threads
          remove_temporary_files(log)
          Output.flush
          exit!(status(error)) unless @inherits
        end
      end

      # Ends a mold when the server does, with the blocks that it has inherited, too: nobody else is left to run them.
      def of_server
        @inherits = true
        exit
      end

      # Ruby would tell of it when the blocks have run.
      def report(error, log)
        case error
        when nil, SystemExit, SignalException then nil
        else log.write(Response::ErrorReport.new(error).to_s)
        end
      rescue IOError, SystemCallError
        # Nobody reads the log any more.
      end

      # As Ruby does it, so that what they `ensure` is done.
      def end_threads
        Thread.list.reject { |thread| thread.equal?(Thread.current) }.each(&:kill).each do |thread|
          thread.join
        rescue StandardError, ScriptError
          # It ended with an error of its own, which it has reported.
        end
      end

      # Finalizers do not run; those of Tempfile remove what carries this process's number in its name.
      def remove_temporary_files(log)
        return unless Object.const_defined?(:Tempfile) && !Object.autoload?(:Tempfile)

        mine = /-#{Process.pid}-[^\/]*\z/
        ObjectSpace.each_object(::Tempfile).select { |file| file.path&.match?(mine) }.each(&:close!)
      rescue IOError, SystemCallError => e
        log.write(Response::ErrorReport.new(e).to_s)
      end

      def status(error)
        case error
        when nil then 0
        when SystemExit then error.status
        when SignalException then 128 + error.signo
        else 1
        end
      end

      private_class_method :report, :end_threads, :remove_temporary_files, :status
    end
  end
end
