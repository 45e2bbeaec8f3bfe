# frozen_string_literal: true

require_relative "error_report"
require_relative "escape"
require_relative "relative_path"

module Carat
  module Log
    # The text about an error of the application that a developer's browser shows. Its paragraphs are the error, the
    # source lines where the application's own code failed, the frames of the application, and all frames.
    class DeveloperReport
      # The size in bytes above which a source file is not shown.
      SOURCE_LIMIT = 1024 * 1024
      # How many lines are shown before and after the one that failed.
      LINES_AROUND = 3
      # The folders in which a project keeps code of others.
      FOREIGN = %r{\A(?:vendor|node_modules|\.bundle)/}
      # The beginning of the path that Ruby gives to code without a file.
      NO_FILE = /\A[<(]/
      BACKTRACE = /^\s+(?:\d+: )?from /
      private_constant :BACKTRACE, :FOREIGN, :LINES_AROUND, :NO_FILE, :SOURCE_LIMIT

      # `error` is an Exception; `root` is the directory of the application.
      def initialize(error, root: Dir.pwd)
        @report = Escape.utf8(ErrorReport.new(error).to_s)
        @root = root
        @own = own(error)
      end

      # Returns the text in UTF-8.
      def to_s
        head, from, rest = @report.partition(BACKTRACE)
        [head.chomp, source, frames, "#{from}#{rest}"].compact.reject(&:empty?).join("\n\n")
      end

      private

      # The frames in the application's own files.
      def own(error)
        error.backtrace_locations.to_a.reject do |frame|
          path = file_of(frame)
          relative(path) == path || relative(path).match?(FOREIGN) || frame.path.match?(NO_FILE)
        end
      rescue StandardError, SystemStackError
        [] # The application may override the methods called here, and they may raise anything.
      end

      def frames
        @own.map { |frame| "#{relative(file_of(frame))}:#{frame.lineno}:in #{frame.label}" }.join("\n")
      end

      def source
        frame = @own.first or return
        path = file_of(frame)
        return unless File.file?(path) && File.size(path) <= SOURCE_LIMIT

        lines = File.readlines(path, chomp: true)
        first = [frame.lineno - LINES_AROUND, 1].max
        lines[(first - 1)...(frame.lineno + LINES_AROUND)].to_a.map.with_index(first) do |line, number|
          format("%s %4d | %s", number == frame.lineno ? ">" : " ", number, Escape.utf8(line))
        end.join("\n")
      rescue SystemCallError
        nil # The file has been removed since.
      end

      # The path of the frame's file. Evaluated code, such as config.ru, has no absolute path.
      def file_of(frame)
        frame.absolute_path || File.expand_path(frame.path, @root)
      end

      def relative(path)
        RelativePath.of(path, @root)
      end
    end
  end
end
