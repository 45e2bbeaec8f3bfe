# frozen_string_literal: true

require_relative "../log/escape"
require_relative "../log/relative_path"

module Carat
  module Processes
    # Formats an error that the application raised while it was loaded: `config.ru:3: no such thing (NameError)`, then
    # the lines of the backtrace that are in the application's files.
    class BootFailure
      # The most lines of the backtrace. After a stack overflow it has ten thousand.
      LINES_LIMIT = 20

      # `error` is any Exception. Paths are relative to `directory`. `file` is named for an error that has no place of
      # its own.
      def initialize(error, directory: Dir.pwd, file: nil)
        @error = error
        @directory = directory
        @file = file
      end

      # Returns the text, without a line end.
      def to_s
        summary, *more = message.lines(chomp: true)
        [head(summary.to_s), *more.map { |line| relative(line) }, *origin].join("\n")
      end

      private

      # The first line: the place, the message, and the class. The message of a syntax error begins with the place
      # already.
      def head(summary)
        place = own_lines.first&.then { |line| place(line) } || (relative(@file) if @file)
        place = nil if summary.match?(/\A\S+:\d+:/)
        [place, "#{relative(summary)} (#{@error.class})"].compact.join(": ")
      end

      def origin
        shown, hidden = own_lines.drop(1).each_slice(LINES_LIMIT).first(2)
        [*shown&.map { |line| "    from #{line}" }, *("    ..." if hidden)]
      end

      def message
        text = Log::Escape.utf8(@error.message).sub(/\A\s+/, "") # Messages of Bundler begin with an empty line.
        text.empty? ? @error.class.name.to_s : text
      end

      # The lines of the backtrace in the application's files. For an error in a method written in C, Ruby 3.4 and later
      # list the place of its caller twice; one of the two is dropped.
      def own_lines
        @own_lines ||= begin
          lines = (@error.backtrace || []).map { |line| relative(line) }.select { |line| own?(line) }
          lines.delete_at(1) if lines.size > 1 && place(lines[0]) == place(lines[1])
          lines
        end
      end

      def place(line)
        line[/\A.+?:\d+/]
      end

      # Whether a line is in the application's files. Absolute paths belong to libraries, `<internal:` to Ruby, and `-e`
      # to the program of the mold.
      def own?(line)
        !line.start_with?("/", "<", "-e:") && !line.start_with?("vendor/", ".bundle/")
      end

      def relative(text)
        Log::RelativePath.of(text, @directory)
      end
    end
  end
end
