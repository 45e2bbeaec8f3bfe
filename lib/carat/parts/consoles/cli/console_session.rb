# frozen_string_literal: true

require "io/wait"
require "socket"
require_relative "../../../cli/command_error"
require_relative "../../../cli/printable"
require_relative "terminal"

module Carat
  module CLI
    # A console or command that a server has forked, and that uses the standard streams of this process. This process
    # passes on the signals that it gets, until the server's process ends. Both ends of the socket send frames
    # (crates/carat-wire): four bytes of length, a byte for the kind, and the content.
    class ConsoleSession
      # The kinds of frames.
      BOOT_FAILED = 33
      BEGUN = 49
      CONSOLE = 50
      SIGNAL = 51
      EXITED = 52
      # The bit of the kind that says that descriptors travel beside the frame.
      DESCRIPTORS = 0x80

      # The most bytes of the order.
      ORDER_LIMIT = 128 * 1024 - 64
      # The most bytes of a frame from the server.
      FRAME_LIMIT = 128 * 1024
      # How long the server may take to fork.
      START_SECONDS = 60
      # Signals by which this process dies when the server's process died by them. After other signals it exits with a
      # status, so that it does not dump core as well.
      FATAL = %w[HUP INT KILL PIPE ALRM TERM USR1 USR2].freeze
      # The status of a process that died by a signal is this number and the number of the signal.
      SIGNALED = 128
      private_constant :BOOT_FAILED, :BEGUN, :CONSOLE, :SIGNAL, :EXITED, :DESCRIPTORS, :ORDER_LIMIT, :FRAME_LIMIT,
                       :FATAL, :SIGNALED

      # `order` says what the server's process is to run.
      def initialize(order)
        @order = order.b
        @begun = false
      end

      # Runs the session on `socket`, whose server expects an order. Raises ControlError.
      def run(socket)
        fail_with("the command and its variables are longer than #{ORDER_LIMIT} bytes") if @order.bytesize > ORDER_LIMIT

        @terminal = Terminal.new
        @terminal.hold do
          send_order(socket)
          follow(socket)
        end
      end

      # Returns the exit status of the server's process, or dies by the signal by which that process died.
      def finish
        return @number unless @signaled

        name = Signal.signame(@number)
        return SIGNALED + @number unless FATAL.include?(name)

        trap(name, "SYSTEM_DEFAULT") unless name == "KILL"
        Process.kill(name, Process.pid)
        sleep # the signal ends this process here
      end

      private

      def send_order(socket)
        bytes = frame(CONSOLE | DESCRIPTORS, @order)
        sent = socket.sendmsg(bytes, 0, nil, Socket::AncillaryData.unix_rights(STDIN, STDOUT, STDERR))
        socket.write(bytes.byteslice(sent..))
      end

      def follow(socket)
        deadline = now + START_SECONDS
        until @number
          ready = @terminal.wait(socket, @begun ? nil : [deadline - now, 0].max)
          fail_with("the server forked no process within #{START_SECONDS} s") unless ready
          receive(socket) if ready.include?(socket)
          @terminal.signals { |name| pass(socket, name) } unless @number
        end
      end

      # Passes a signal on. For SIGTSTP the console gets SIGSTOP, because SIGTSTP cannot stop it: no shell in its
      # session could continue it.
      def pass(socket, name)
        return exit(SIGNALED + Signal.list.fetch(name)) unless @begun || name == "WINCH" || name == "TSTP"
        return signal(socket, name) unless name == "TSTP"

        signal(socket, "STOP") if @begun
        @terminal.stop
        signal(socket, "CONT") if @begun
      end

      def signal(socket, name)
        socket.write(frame(SIGNAL, [Signal.list.fetch(name)].pack("V"))) if @begun
      end

      def receive(socket)
        length = socket.read(4)&.unpack1("V")
        fail_with("the server is gone#{", and the process with it" if @begun}") unless length&.between?(1, FRAME_LIMIT)
        kind, content = socket.read(length).to_s.unpack("Ca*")
        case kind
        when BEGUN then @begun = true
        when BOOT_FAILED then fail_with(Printable.text(content.force_encoding(Encoding::UTF_8)))
        when EXITED then @signaled, @number = content.unpack("CV").then { |signaled, number| [signaled == 1, number] }
        else fail_with("the server speaks another language")
        end
      end

      def frame(kind, content)
        [content.bytesize + 1, kind].pack("VC") + content
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def fail_with(reason)
        raise ControlError, "carat: #{reason}"
      end
    end
  end
end
