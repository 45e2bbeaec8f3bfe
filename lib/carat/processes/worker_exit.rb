# frozen_string_literal: true

require_relative "../log/process_log"
require_relative "../log/relative_path"
require_relative "../warmup/agents"
require_relative "output"
require_relative "temporary_files"

module Carat
  module Processes
    # The exit of a process that was forked from a mold. It runs all at_exit blocks of the application, inherited ones
    # too, as Puma's workers do: in such a block, a monitoring agent sends the data that it still holds. See
    # docs/decisions/0019-upgrades-and-stops.md.
    module WorkerExit
      # The seconds that all at_exit blocks of a worker may take together.
      SECONDS = 5
      # The seconds that the blocks may take after SIGTERM: the edge kills the process 2 s after it has sent that.
      LAST_SECONDS = 1.5

      # The way in which this process is to exit. `seconds` limits the time of the at_exit blocks, and `last_seconds`
      # their time after SIGTERM; nil means no limit. With `by_signal`, the process dies by the signal that ended its
      # main thread. With `is_mold`, its Tempfiles stay for other processes.
      Arrangement = Struct.new(:log, :seconds, :last_seconds, :by_signal, :pid, :error, :is_mold)
      private_constant :Arrangement

      module_function

      # Registers an at_exit block in the mold, before the application is loaded. Blocks run in reverse order, so that
      # this one runs last. In forked processes it ends the process, before blocks that were registered earlier and
      # finalizers of the mold's objects can run.
      def install
        @directory = Dir.pwd # Kept, because a deployment may remove the directory meanwhile.
        @files = TemporaryFiles.new
        at_exit { here? ? finish(agents: true) : @files.remove(Log::ProcessLog.new(mold: true)) }
      end

      # Ends a mold that another one has replaced, without at_exit blocks.
      def replaced(log)
        @files.remove(log)
        Output.flush
        exit!(0)
      end

      # Ends the process without further at_exit blocks: kills its threads and removes its Tempfiles. With `agents`,
      # first makes monitoring agents send their data.
      def finish(agents: false)
        error = outcome($!) # rubocop:disable Style/SpecialGlobalVars -- the blocks may have changed it
        Warmup::Agents.finish(log: @arrangement.log) if agents
        end_threads
        clean_up(@arrangement)
        kill(error.signo) if @arrangement.by_signal && error.is_a?(SignalException)
      ensure
        exit!(status(error))
      end

      # Sets how a forked process exits, in place of the arrangement that it has inherited.
      def arrange(log: Log::ProcessLog.new, seconds: nil, last_seconds: LAST_SECONDS, by_signal: false)
        @arrangement = Arrangement.new(log, seconds, last_seconds, by_signal, Process.pid)
      end

      # Whether this process has been a worker, or another process forked from the mold.
      def here?
        @arrangement&.pid == Process.pid
      end

      # Notes that a worker has become a mold: its Tempfiles stay at its end, since the processes that it forks use
      # them.
      def leave_files
        @arrangement.is_mold = true
      end

      # Reports the error that ends the process, and starts to limit the time. To be called when the last role has
      # ended, before the at_exit blocks run.
      def prepare
        return unless here?

        @arrangement.error = $! # rubocop:disable Style/SpecialGlobalVars -- the alternative loads the English library
        report(@arrangement)
        limit(@arrangement) if @arrangement.seconds
      end

      # Exits a mold when the server stops. Its at_exit blocks run, because no other process is left to run them.
      def of_server
        @arrangement = nil
        exit
      end

      # Logs the error before the at_exit blocks run; Ruby itself would print it after them.
      def report(arrangement)
        case (error = arrangement.error)
        when nil, SystemExit, SignalException then nil
        else arrangement.log.application_error(error)
        end
      end

      # Returns the exception that decides the exit status. `exit` in an at_exit block counts; an error in a block does
      # not, and is only logged here, after Ruby has printed it. The cause of such an error is the error of an earlier
      # block.
      def outcome(last)
        planned = @arrangement.error
        return last if last.nil? || last.equal?(planned) || last.is_a?(SystemExit) || last.is_a?(SignalException)

        errors = []
        last = errors.push(last).last.cause until last.nil? || last.equal?(planned)
        errors.reverse.uniq { |error| outermost(error.backtrace) }.each do |error|
          @arrangement.log.warn("an at_exit block raised #{error.class}: #{outermost(error.backtrace)}")
        end
        planned
      end

      # Starts a thread that ends the process when the at_exit blocks have taken too long. After SIGTERM they have less
      # time.
      def limit(arrangement)
        deadline = now + arrangement.seconds
        last = arrangement.last_seconds
        trap("TERM", last ? proc { deadline = [deadline, now + last].min and @watch&.wakeup } : "IGNORE")
        @watch = Thread.new do
          sleep([deadline - now, 0.001].max) while now < deadline
          cut_off(arrangement)
        end
      end

      def cut_off(arrangement)
        frames = Thread.main.backtrace
        place = outermost(frames) || "the end of its threads"
        inner = places(frames).first unless places(frames).first == place
        arrangement.log.warn("an at_exit block did not finish in time: #{[place, *inner].join(", at ")}")
        clean_up(arrangement)
      ensure
        exit!(status(arrangement.error))
      end

      # The place of the at_exit block that runs in the main thread, which is the outermost frame.
      def outermost(frames)
        places(frames).last
      end

      def places(frames)
        ours = (frames || []).reject { |line| line.start_with?(__FILE__) }
        ours.map { |line| Log::RelativePath.of(line, @directory) }
      end

      # Ends the other threads as Ruby does at an exit, so that their `ensure` blocks run.
      def end_threads
        Thread.list.reject { |thread| [Thread.current, @watch].include?(thread) }.each(&:kill).each do |thread|
          thread.join
        rescue StandardError, ScriptError
          # The thread has reported its error.
        end
      end

      def clean_up(arrangement)
        @files.remove(arrangement.log, own: !arrangement.is_mold)
        Output.flush
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

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      private_class_method :report, :outcome, :limit, :cut_off, :outermost, :places, :end_threads, :clean_up,
                           :kill, :status, :now
    end
  end
end
