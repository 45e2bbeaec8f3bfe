# frozen_string_literal: true

module Carat
  module Processes
    # What went wrong while the application was loaded, told with its place: `config.ru:3: no such thing (NameError)`,
    # then the application's own lines of the backtrace.
    class BootFailure
      OURS = File.expand_path("../..", __dir__)

      # So many lines of a backtrace are told: a stack that is too deep has ten thousand.
      LINES_LIMIT = 20

      # `error` is any Exception; paths are told relative to `directory`; `file` is the place of an error that has none.
      def initialize(error, directory: Dir.pwd, file: nil)
        @error = error
        @directory = "#{directory}/"
        @file = file
      end

      def to_s
        summary, *more = message.lines(chomp: true)
        [head(summary.to_s), *more, *origin].join("\n")
      end

      private

      # Messages of syntax errors begin with their place.
      def head(summary)
        place = own_lines.first&.slice(/\A.+?:\d+/) || (relative(@file) if @file)
        place = nil if summary.match?(/\A\S+:\d+:/)
        [place, "#{relative(summary)} (#{@error.class})"].compact.join(": ")
      end

      def origin
        told, untold = own_lines.drop(1).each_slice(LINES_LIMIT).first(2)
        [*told&.map { |line| "    from #{line}" }, *("    ..." if untold)]
      end

      def message
        @error.message.empty? ? @error.class.name.to_s : @error.message
      end

      def own_lines
        @own_lines ||= (@error.backtrace || []).map { |line| relative(line) }.select { |line| own?(line) }
      end

      # What is left absolute belongs to a library, `<internal:` to Ruby itself, `-e` is how the mold is started.
      def own?(line)
        !line.start_with?("/", "<", "-e:", OURS) && !line.start_with?("vendor/", ".bundle/")
      end

      def relative(text)
        text.delete_prefix(@directory)
      end
    end
  end
end
