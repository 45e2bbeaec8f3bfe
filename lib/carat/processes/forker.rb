# frozen_string_literal: true

require_relative "../native"
require_relative "boot_failure"
require_relative "double_fork"
require_relative "oom_score"
require_relative "output"
require_relative "stats_report"
require_relative "worker_exit"
require_relative "worker_order"

module Carat
  module Processes
    # The roles form a circle: a worker may become a forker again.
    autoload :Worker, File.join(__dir__, "worker.rb")

    # What a mold does once it is ready, be it the first or one that has been a worker: it forks workers as the edge
    # says.
    class Forker
      # `control` is a Native::Control, `loaded` a Loaded.
      def initialize(control, loaded)
        @control = control
        @loaded = loaded
        @edge = Process.ppid
      end

      # Obeys until the edge wants no more of this process, or is gone. Does not return here, but in each new process,
      # with the Worker that it is to be: what the mold has on its stack is not the worker's.
      def run
        while (message, *details = @control.receive)
          case message
          when :fork_worker
            worker = fork_worker(WorkerOrder.new(*details))
            return worker if worker
          when :ask_figures then @control.figures(StatsReport.new.to_json)
          when :drain then break
          when :bye then WorkerExit.of_server
          end
        end
        finish
      rescue Native::LinkError => e
        abort "carat: mold: #{e.message}"
      end

      private

      # Returns the Worker in the new process, nil in this one.
      def fork_worker(order)
        Process.setproctitle("carat: mold gen=#{order.generation}")
        return worker(order) if forked?(order)

        order.close
        nil
      end

      # True in the new process. Whatever the hook raises, `exit` too, the mold is still what it was.
      def forked?(order)
        @loaded.configuration.hooks.run(:before_fork, order.worker)
        DoubleFork.new(@edge).fork
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge is told, and tries again
        refuse(order, BootFailure.new(e).to_s)
      end

      def worker(order)
        @control.close
        OomScore.server.raise_by(OomScore::WORKER)
        Worker.new(order, @loaded)
      end

      # The worker that never came to life says why it did not.
      def refuse(order, text)
        control = Native::Control.new(order.control)
        control.boot_failed(text)
        false
      ensure
        control&.close
      end

      # The application lives on in the next mold: its at_exit blocks do not run here.
      def finish
        Output.flush
        exit!(0)
      end
    end
  end
end
