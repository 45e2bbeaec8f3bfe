# frozen_string_literal: true

require "io/console"

module Carat
  module CLI
    # The terminal of this process, which another process uses meanwhile. Signals that this process gets are collected
    # as names.
    class Terminal
      SIGNALS = %w[INT QUIT TERM HUP USR1 USR2 WINCH TSTP].freeze
      # How many names may wait. Further signals are dropped, as the kernel drops a signal that is pending already.
      WAITING_LIMIT = 64
      private_constant :SIGNALS, :WAITING_LIMIT

      # Collects signals while the block runs. Afterwards, restores the mode of the terminal.
      def hold
        @waiting = []
        @reader, @writer = IO.pipe
        wait_for_foreground
        mode = $stdin.console_mode if $stdin.tty?
        SIGNALS.each { |name| trap(name) { note(name) } }
        yield
      ensure
        SIGNALS.each { |name| trap(name, "SYSTEM_DEFAULT") }
        $stdin.console_mode = mode if mode
      end

      # Waits for a signal or the socket. Returns an Array of what is readable, or nil when the time is over.
      def wait(socket, seconds)
        IO.select([@reader, socket], nil, nil, seconds)&.first
      end

      # Yields the names of the signals that have arrived.
      def signals
        @reader.read_nonblock(WAITING_LIMIT, exception: false)
        while (name = @waiting.shift)
          yield name
        end
      end

      # Stops this process, as Ctrl-Z asks, until the shell continues it in the foreground.
      def stop
        Process.kill("STOP", Process.pid)
        wait_for_foreground
      end

      private

      # Notes a signal. This runs in a signal handler, so that it must not block.
      def note(name)
        return if @waiting.size >= WAITING_LIMIT

        @waiting << name
        @writer.write_nonblock(".", exception: false)
      end

      # Stops this process while it is in the background. The other process is in another session, and so the kernel
      # would let it read what is typed for the shell.
      def wait_for_foreground
        Process.kill("STOP", Process.pid) while $stdin.tty? && background?
      end

      # Whether another process group has the terminal (proc_pid_stat(5)).
      def background?
        group, foreground = File.read("/proc/self/stat").rpartition(") ").last.split.values_at(2, 5)
        ![group, "-1"].include?(foreground)
      end
    end
  end
end
