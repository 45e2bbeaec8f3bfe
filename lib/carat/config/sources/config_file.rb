# frozen_string_literal: true

require_relative "../config_error"
require_relative "../../log/escape"
require_relative "../../log/relative_path"
require_relative "dsl"
require_relative "../type"

module Carat
  module Config
    # A config file in Ruby, such as carat.rb.
    class ConfigFile
      # The paths of a config file when none is named, relative to the working directory.
      PLACES = %w[carat.rb config/carat.rb].freeze

      # The longest file in bytes. A bound is needed because the path may name any file.
      LIMIT = 1024 * 1024

      # A block from the top level, so that the file sees none of Carat's local variables and constants.
      SCOPE = TOPLEVEL_BINDING.eval("proc { binding }", __FILE__, __LINE__)
      private_constant :SCOPE

      # Returns the absolute path of the one of PLACES that exists, or nil. Raises ConfigError when the file cannot be
      # read, and when both exist.
      def self.find
        found = PLACES.select { |place| File.exist?(place) || File.symlink?(place) }
        place = found.first or return
        path = InvalidValue.at(place) { Type.build(:file).parse(place) }
        raise ConfigError, "there are #{found.join(" and ")}: keep one, or name it with --config" if found.size > 1

        path
      end

      def initialize(path)
        @path = path
        @root = Dir.pwd
      end

      # Runs the file. Its options go to `settings`, its hooks to `hooks`, and its further processes to `processes`.
      # Raises ConfigError, also for an error that the file raises.
      def run(settings, hooks, processes)
        scope = DSL.new(settings, hooks, processes, @root).instance_exec(&SCOPE)
        scope.eval(text, @path)
      rescue ConfigError
        raise
      rescue SyntaxError => e
        raise ConfigError, syntax_problem(e)
      rescue StandardError, ScriptError => e
        raise ConfigError, "#{place(e)}: #{e.class}: #{first_line(e)}"
      end

      private

      def text
        text = File.read(@path, LIMIT + 1) || +""
        raise ConfigError, "#{name}: it is larger than 1 MiB" if text.bytesize > LIMIT

        text.force_encoding(Encoding::UTF_8)
      rescue Errno::EACCES
        raise ConfigError, "#{name}: it #{Type.forbidden("read")}"
      end

      def place(error)
        frame = error.backtrace_locations&.find { |location| location.path == @path }
        frame ? "#{name}:#{frame.lineno}" : name
      end

      # The reason for a SyntaxError. Ruby 3.1 puts the reason in the first line; Ruby 3.4 puts it after the caret below
      # the code.
      def syntax_problem(error)
        detail = message(error)[/^[\s|]*\^~* (.+)$/, 1]
        [relative(first_line(error).delete_suffix(" (SyntaxError)")), detail].compact.join(": ")
      end

      def first_line(error)
        message(error).lines.first.to_s.chomp
      end

      def message(error)
        Log::Escape.utf8(error.message)
      end

      def name
        relative(@path)
      end

      def relative(text)
        Log::RelativePath.of(text, @root)
      end
    end
  end
end
