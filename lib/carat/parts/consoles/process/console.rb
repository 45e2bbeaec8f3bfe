# frozen_string_literal: true

require_relative "../../../config/locale"
require_relative "../../../native"
require_relative "../../../parts"
require_relative "../../../processes/boot_failure"
require_relative "../../../processes/signals"
require_relative "../../../processes/worker_exit"
require_relative "changed_code"
require_relative "command"

module Carat
  module Processes
    # The role of a process that the mold forks for `carat console` or `carat run`. It has the client's standard
    # streams, and a session of its own, so that no terminal stops it. The edge passes the client's signals on, and
    # sends SIGHUP when the client is gone.
    class Console
      # Reports errors to the client's terminal, in the way of Ruby.
      class Report
        # Prints an exception that nothing has rescued.
        def application_error(error)
          $stderr.write(error.full_message(highlight: $stderr.tty?))
        end

        # Prints what failed, and why.
        def failure(message, error)
          $stderr.puts("carat: #{message}: #{error.message}")
        end

        # Prints a warning.
        def warn(message)
          $stderr.puts("carat: #{message}")
        end
      end
      private_constant :Report

      class << self
        # The ChangedCode of the loaded application.
        attr_accessor :code
      end

      # `order` is an AppProcess::Order, `context` an AppContext.
      def initialize(order, context)
        @order = order
        @context = context
        @control = Native::Control.new(order.control)
      end

      # Runs the client's command, and exits with its status.
      def run
        WorkerExit.arrange(log: Report.new, by_signal: true)
        prepare
        order = receive
        keep_control
        command = command(order)
        command.run { |work| with_hooks(work) }
        nil
      end

      private

      def prepare
        Process.setsid # The processes that it forks are in its session, and end with it.
        Process.setproctitle("carat: console number=#{@order.number} gen=#{@order.generation}")
        Signals.restore
        @control.hello(:process)
        @control.ready
      end

      def keep_control
        @control.close if Parts.map { |part| part.join(@control, @context.configuration) }.none?
      end

      def receive
        _, order, *streams = @control.receive
        exit!(1) unless order # The edge is gone, or needs this process no longer.
        take(streams)
        order
      rescue StandardError => e
        @control.boot_failed(BootFailure.new(e).to_s)
        exit!(1)
      end

      # Replaces the standard streams of this process; `descriptors` are the numbers of the client's streams.
      def take(descriptors)
        [[STDIN, "r"], [STDOUT, "w"], [STDERR, "w"]].zip(descriptors) do |(stream, mode), descriptor|
          IO.open(descriptor, mode) { |io| stream.reopen(io) }
        end
        $stdin = STDIN
        $stdout = STDOUT
        $stderr = STDERR
      end

      # Reads the order: the kind of command, the number of variables, the variables, and the words of the command,
      # separated by NUL. A variable without a value is to be removed.
      def command(order)
        kind, count, *rest = order.split("\0", -1).map { |text| Config::Locale.text(text) }
        variables = rest.shift(Integer(count, 10))
        environment = variables.to_h { |text| [text[/\A[^=]*/], text[/=(.*)\z/m, 1]] }
        Command.new(kind, rest, environment)
      end

      def with_hooks(work)
        hooks = @context.configuration.hooks
        self.class.code&.report
        hooks.run(:on_process_boot, @order.name)
        work.call
      ensure
        hooks&.run(:on_process_shutdown, @order.name)
      end
    end
  end
end
