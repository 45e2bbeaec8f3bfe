# frozen_string_literal: true

require "carat/config/config_error"

module Carat
  module CLI
    # The flags of subcommands that request paths from an application.
    module RequestFlags
      # What `--path` takes.
      PATH = %r{\A/[!-~]*\z}

      # Paths in the title of a page.
      TITLE_TARGETS = 3
      private_constant :TITLE_TARGETS

      private

      # Defines `--path`, repeatable.
      def define_path(parser)
        @targets = []
        parser.on("--path PATH", "A path to request; repeatable [/]") { |text| @targets << target(text) }
      end

      # The paths to request.
      def targets
        @targets.empty? ? ["/"] : @targets
      end

      # The title of a page.
      def title(command)
        "carat #{command} #{targets.first(TITLE_TARGETS).join(" ")}"
      end

      def target(text)
        return text if PATH.match?(text)

        raise Config::ConfigError, "--path: #{text.inspect} is not a path that begins with / and is percent-encoded"
      end

      # Returns a whole number in the range.
      def number(flag, text, range)
        number = Integer(text, 10, exception: false)
        return number if number && range.cover?(number)

        raise Config::ConfigError, "#{flag}: #{text.inspect} is not a number from #{range.begin} to #{range.end}"
      end
    end
  end
end
