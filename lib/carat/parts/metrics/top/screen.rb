# frozen_string_literal: true

require "io/console"

module Carat
  module CLI
    class Top
      # The terminal: whole pages out, keys and signals in. However the block ends, the terminal is as it was before.
      class Screen
        # Switches to another buffer, so that the shell's text comes back, hides the cursor, and turns line wrapping
        # off.
        ENTER = "\e[?1049h\e[?25l\e[?7l"
        LEAVE = "\e[?7h\e[?25h\e[?1049l"
        HOME = "\e[H"
        REST_OF_LINE = "\e[K"
        REST_OF_PAGE = "\e[J"
        KEY = /\e\[[\d;]*[A-Za-z~]|\eO[A-Z]|./m
        KEYS = { "\e[A" => :up, "\eOA" => :up, "\e[B" => :down, "\eOB" => :down, "\e[5~" => :page_up,
                 "\e[6~" => :page_down, "\t" => :tab, "\r" => :enter, "\n" => :enter, "\e" => :escape,
                 "\x03" => :quit, "\x04" => :quit }.freeze
        # What the signals mean.
        SIGNALS = { "INT" => :quit, "TERM" => :quit, "HUP" => :quit, "QUIT" => :quit, "WINCH" => :resized,
                    "TSTP" => :stop }.freeze
        # Most bytes of keys in one read, and most signals that wait: further ones are lost, as the kernel loses them.
        CHUNK = 64
        # The size of a terminal that reports none.
        SIZE = [24, 80].freeze
        private_constant :CHUNK, :ENTER, :HOME, :KEY, :KEYS, :LEAVE, :REST_OF_LINE, :REST_OF_PAGE, :SIGNALS, :SIZE

        def initialize(input, output)
          @input = input
          @output = output
          @signals = []
          @reader, @writer = IO.pipe
        end

        # Yields itself while the terminal shows its pages.
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

        # Shows lines without control characters, cut to `columns`. A line in an Array with true is bold, one with
        # false inverse.
        def show(lines, columns)
          lines = lines.map { |line, bold| "#{marked(line[0, columns], columns, bold)}#{REST_OF_LINE}" }
          @output.write(HOME, lines.join("\r\n"), REST_OF_PAGE)
          @output.flush
        rescue SystemCallError
          note(:quit) # the terminal has gone
        end

        # Waits for keys and signals, at most `seconds`. Returns an Array of characters and of Symbols.
        def wait(seconds)
          return [] unless @signals.any? || (ready, = IO.select([@input, @reader], nil, nil, seconds))

          @reader.read_nonblock(CHUNK, exception: false)
          keys = ready&.include?(@input) ? read_keys : []
          [*@signals.shift(CHUNK), *keys]
        end

        # Stops this process, as its shell wants, until it is in the foreground again.
        def stop
          leave
          Process.kill("STOP", Process.pid)
          enter
        end

        private

        def marked(text, columns, bold)
          bold.nil? ? text : "\e[#{bold ? 1 : 7}m#{text.ljust(columns)}\e[m"
        end

        # Runs in a signal handler.
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
          [:quit] # the terminal has gone
        end

        # Makes keys arrive at once, without an echo; the keys for signals still send them.
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
          nil # the terminal has gone
        end
      end
    end
  end
end
