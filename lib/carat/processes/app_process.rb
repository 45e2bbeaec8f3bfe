# frozen_string_literal: true

require_relative "../native"
require_relative "../parts"
require_relative "../warmup/agents"
require_relative "boot_failure"
require_relative "signals"
require_relative "worker_exit"

module Carat
  module Processes
    # The role of a further process of the application: it runs the block or the command of a `process` in the config
    # file, or measures the load of such processes. The edge ends it by signals, so it needs no thread of Carat's.
    class AppProcess
      # An order of the edge: the name, the number among the processes with this name (0 to measure their load), the
      # generation, and the control socket.
      Order = Struct.new(:name, :number, :generation, :control) do
        # Closes the control socket in the mold; the new process has a copy.
        def close
          control.close
        end
      end

      # `order` is an Order, `context` an AppContext.
      def initialize(order, context)
        @order = order
        @context = context
        @declaration = context.configuration.processes[order.name]
        @control = Native::Control.new(order.control)
        Parts.each { |part| part.join(@control, context.configuration) }
      end

      # Runs until the block returns. Exits with status 1 when the block or a hook raises.
      def run
        WorkerExit.arrange(log: @context.log.with(process: @order.name), seconds: exit_seconds, last_seconds: nil)
        Process.setpgid(0, 0) # The edge can end the whole group, with the processes that this one forks.
        Process.setproctitle("carat: #{@order.name} #{measures? ? "load" : "number=#{@order.number}"} " \
                             "gen=#{@order.generation}")
        @control.hello(:process)
        Signals.restore
        boot
        @control.ready
        exit!(1) unless @control.receive # The edge is gone, or needs this process no longer.
        measures? ? measure : work
        nil
      rescue StandardError, ScriptError, NoMemoryError, SystemStackError => e
        @control.boot_failed(BootFailure.new(e).to_s)
        exit(1)
      end

      private

      # The seconds that the at_exit blocks may take: a little less than the time that the edge gives the process to
      # stop.
      def exit_seconds
        (@declaration&.stop_timeout || @context.configuration[:shutdown_timeout]) * 0.9
      end

      def boot
        raise ArgumentError, "the config file declares no process #{@order.name.inspect} any more" unless @declaration

        ENV.update(@declaration.environment)
        return if measures?

        hooks.run(:on_process_boot, @order.name)
        Warmup::Agents.start(log: @context.log) unless @declaration.command
      end

      def measures?
        @order.number.zero?
      end

      def measure
        load = @declaration.load.call
        unless load.is_a?(Numeric) && load.real? && load >= 0 && load.to_f.finite?
          raise TypeError, "load: #{load.is_a?(Numeric) ? load : "a #{load.class}"} is not a number of 0 or more"
        end

        @control.load(load.to_f)
        WorkerExit.finish # Without at_exit blocks: the measurement has left nothing for them to send.
      end

      def work
        execute if @declaration.command
        @declaration.block.call
      ensure
        hooks.run(:on_process_shutdown, @order.name)
      end

      # Runs the command. Its standard input never ends, because the program itself holds the other end of the pipe. At
      # an end of file, watchers would exit; and the server's terminal would stop a background process that reads from
      # it.
      def execute
        Parts.each { |part| ENV.update(part.command_environment(@context.configuration)) }
        input, writer = IO.pipe
        exec(@declaration.command, in: input, writer => writer)
      end

      def hooks
        @context.configuration.hooks
      end
    end
  end
end
