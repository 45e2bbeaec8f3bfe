# frozen_string_literal: true

require "io/console"

module Carat
  module CLI
    class Top
      # The terminal of `carat top`: shows whole pages, and collects keys and signals. However the block ends, the
      # terminal is restored.
      class Screen
        # The sequence that switches to a second buffer, so that the shell's text comes back at the end, hides the
        # cursor, and turns line wrapping off.
        ENTER = "\e[?1049h\e[?25l\e[?7l"
        LEAVE = "\e[?7h\e[?25h\e[?1049l"
        HOME = "\e[H"
        REST_OF_LINE = "\e[K"
        REST_OF_PAGE = "\e[J"
        KEY = /\e\[[\d;]*[A-Za-z~]|\eO[A-Z]|./m
        KEYS = { "\e[A" => :up, "\eOA" => :up, "\e[B" => :down, "\eOB" => :down, "\e[5~" => :page_up,
                 "\e[6~" => :page_down, "\t" => :tab, "\r" => :enter, "\n" => :enter, "\e" => :escape,
                 "\x03" => :quit, "\x04" => :quit }.freeze
        # The events that signals become.
        SIGNALS = { "INT" => :quit, "TERM" => :quit, "HUP" => :quit, "QUIT" => :quit, "WINCH" => :resized,
                    "TSTP" => :stop }.freeze
        # The limit of two things: the bytes of keys in one read, and the signals that wait. Further signals are
        # dropped, as the kernel drops a signal that is pending already.
        CHUNK = 64
        # The size of a terminal that does not report its size.
        SIZE = [24, 80].freeze
        private_constant :CHUNK, :ENTER, :HOME, :KEY, :KEYS, :LEAVE, :REST_OF_LINE, :REST_OF_PAGE, :SIGNALS, :SIZE

        def initialize(input, output)
          @input = input
          @output = output
          @signals = []
          @reader, @writer = IO.pipe
        end

        # Yields the screen while the terminal shows its pages.
        def hold
          before = SIGNALS.to_h { |name, meaning| [name, trap(name) { note(meaning) }] }
          @mode = @input.console_mode
          enter
          yield self
        ensure
          leave if @mode
          before&.each { |name, handler| trap(name, handler || "SYSTEM_DEFAULT") }
        end

        # Returns the number of rows and of columns, each at least 1.
        def size
          rows, columns = @output.winsize
          rows.positive? && columns.positive? ? [rows, columns] : SIZE
        rescue SystemCallError
          SIZE
        end

        # Shows lines without control characters, cut to `columns`. A line in an Array with true is bold; a line in an
        # Array with false is inverse.
        def show(lines, columns)
          lines = lines.map { |line, bold| "#{marked(line[0, columns], columns, bold)}#{REST_OF_LINE}" }
          @output.write(HOME, lines.join("\r\n"), REST_OF_PAGE)
          @output.flush
        rescue SystemCallError
          note(:quit) # the terminal is gone
        end

        # Waits for keys and signals, at most `seconds`. Returns an Array of keys and events: Strings and Symbols.
        def wait(seconds)
          return [] unless @signals.any? || (ready, = IO.select([@input, @reader], nil, nil, seconds))

          @reader.read_nonblock(CHUNK, exception: false)
          keys = ready&.include?(@input) ? read_keys : []
          [*@signals.shift(CHUNK), *keys]
        end

        # Stops this process, as Ctrl-Z asks, until the shell continues it in the foreground.
        def stop
          leave
          Process.kill("STOP", Process.pid)
          enter
        end

        private

        def marked(text, columns, bold)
          bold.nil? ? text : "\e[#{bold ? 1 : 7}m#{text.ljust(columns)}\e[m"
        end

        # Notes an event. This runs in a signal handler, so that it must not block.
        def note(meaning)
          return if @signals.size >= CHUNK

          @signals << meaning
          @writer.write_nonblock(".", exception: false)
        end

        def read_keys
          text = @input.read_nonblock(CHUNK, exception: false)
          return [] if text == :wait_readable
          return [:quit] unless text

          text.b.scan(KEY).map { |key| KEYS.fetch(key, key) }
        rescue SystemCallError
          [:quit] # the terminal is gone
        end

        # Makes keys arrive one by one, without an echo. Keys such as Ctrl-C still send their signals.
        def enter
          @input.raw!(intr: true)
          @output.write(ENTER)
          @output.flush
        end

        def leave
          @output.write(LEAVE)
          @output.flush
          @input.console_mode = @mode
        rescue SystemCallError
          nil # the terminal is gone
        end
      end
    end
  end
end
