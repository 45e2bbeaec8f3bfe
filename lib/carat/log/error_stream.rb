# frozen_string_literal: true

require_relative "escape"

module Carat
  module Log
    # `rack.errors` in a JSON log. The text that the application writes in one call becomes one line.
    class ErrorStream
      # `log` is a ProcessLog.
      def initialize(log)
        @log = log
      end

      # Writes one line; returns the number of bytes.
      def write(*texts)
        text = texts.map { |part| Escape.utf8(part.to_s) }.join.chomp
        @log.event("error", message: text) unless text.empty?
        texts.sum { |part| part.to_s.bytesize }
      end

      # Writes one line; returns nil.
      def puts(*lines)
        write(lines.flatten.join("\n"))
        nil
      end

      # Writes one line; returns nil.
      def print(*texts)
        write(*texts)
        nil
      end

      # Writes one line; returns nil.
      def printf(...)
        print(format(...))
      end

      # Writes one line; returns the stream.
      def <<(text)
        write(text)
        self
      end

      # Returns the stream. There is nothing to flush.
      def flush
        self
      end

      # Returns nil and leaves the log open: a Logger of the application may close the stream that it was given.
      def close
        nil
      end

      # Returns true.
      def sync
        true
      end

      # Does nothing: each line is written at once.
      def sync=(_value); end

      # Returns false.
      def tty?
        false
      end
      alias isatty tty?
    end
  end
end
