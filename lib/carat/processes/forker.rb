# frozen_string_literal: true

require_relative "../native"
require_relative "app_process"
require_relative "boot_failure"
require_relative "double_fork"
require_relative "measures/oom_score"
require_relative "../parts"
require_relative "measures/stats_report"
require_relative "worker_exit"

module Carat
  module Processes
    # Loaded when it is used, because the roles require each other: a worker may become a forker.
    autoload :Worker, File.join(__dir__, "worker.rb")

    # The role of a mold that is ready, whether it was started as a mold or was a worker. When the edge orders it, it
    # forks a worker or a further process of the application.
    class Forker
      # `control` is a Native::Control, `context` an AppContext.
      def initialize(control, context)
        @control = control
        @context = context
        @edge = Process.ppid
      end

      # Carries out orders until the edge ends this process or is gone. Returns only in a new process: the Worker, the
      # AppProcess, or the role of a Part that is to run there.
      def run
        while (message, *details = @control.receive)
          case message
          when :fork_worker
            worker = fork_worker(Worker::Order.new(*details))
            return worker if worker
          when :fork_app
            process = fork_app(AppProcess::Order.new(*details))
            return process if process
          when :ask_stats then @control.stats(StatsReport.new.to_json)
          when :drain then break
          when :bye then WorkerExit.of_server
          end
        end
        finish
      rescue Native::LinkError => e
        @context.log.failure("the mold failed", e)
        exit(1)
      end

      private

      # Returns the Worker in the new process, and nil in this one.
      def fork_worker(order)
        Process.setproctitle("carat: mold gen=#{order.generation}")
        return become(Worker, order) if forked?(order)

        order.close
        nil
      end

      # Returns the AppProcess, or the role of a Part, in the new process, and nil in this one.
      def fork_app(order)
        role = Parts.filter_map { |part| part.role(order) }.first || AppProcess
        return become(role, order) if DoubleFork.new(@edge).fork

        order.close
        nil
      rescue StandardError => e
        refuse(order, BootFailure.new(e).to_s)
        nil
      end

      # Returns true in the new process. An error in the hook is reported to the edge, and does not end the mold; not
      # even `exit` does.
      def forked?(order)
        @context.configuration.hooks.run(:before_fork, order.worker)
        DoubleFork.new(@edge).fork
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge receives it, and tries again
        refuse(order, BootFailure.new(e).to_s)
      end

      def become(role, order)
        @control.close
        OomScore.server.raise_by(OomScore::WORKER)
        role.new(order, @context)
      end

      # Reports on the new process's control socket that it could not be forked.
      def refuse(order, text)
        control = Native::Control.new(order.control)
        control.boot_failed(text)
        false
      ensure
        control&.close
      end

      # Ends this process without at_exit blocks, since the application lives on in the next mold. A process that has
      # served as a worker does run them, because a monitoring agent may still hold data to send.
      def finish
        WorkerExit.replaced(@context.log) unless WorkerExit.here?
      end
    end
  end
end
