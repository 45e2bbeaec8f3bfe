# frozen_string_literal: true

require_relative "../config/options"

module Carat
  module CLI
    # The text of `carat --help`.
    class Help
      WIDTH = 80
      INDENT = 38
      HEAD = <<~TEXT
        Usage: carat [options] [config.ru]
               carat check [options] [config.ru]    validate the configuration and exit
               carat doctor [options] [config.ru]   look at the machine as well and exit
               carat memory [--json]                show what a running server weighs
                                                    (carat memory --help says more)
      TEXT
      FOOT = <<~TEXT
        An option may also stand in carat.rb (or config/carat.rb), such as `workers 2`,
        or in the environment, such as CARAT_WORKERS=2. A flag wins over the file, the
        file over the environment. Sizes are bytes or "64KB", "1GB" (powers of 1024);
        times are seconds or "500ms", "5m". ADDRESS is tcp://HOST:PORT,
        unix:///PATH?mode=0660 or fd://NUMBER.
      TEXT
      HARD_SPACE = "\u00a0"
      private_constant :HEAD, :FOOT, :HARD_SPACE

      # Returns the text, in lines of at most WIDTH columns.
      def to_s
        [HEAD, *groups, general, FOOT].join("\n")
      end

      private

      def groups
        Config::Options.from(:flag).group_by(&:group).map do |group, options|
          entries = options.map { |option| entry(flags(option), description(option)) }
          "#{group}:\n#{entries.join}"
        end
      end

      def general
        "General:\n#{entry("-h, --help", "Show this text.")}#{entry("-v, --version", "Show the version.")}"
      end

      def flags(option)
        long = option.boolean? ? "--[no-]#{option.flag[2..]}" : "#{option.flag} #{option.metavar}"
        option.short ? "#{option.short}, #{long}" : "    #{long}"
      end

      def description(option)
        variables = option.env&.join(", ")
        extra = " (#{variables})" if variables
        "#{option.doc[..-2]}#{extra} #{unbroken("[#{option.default_words}]")}"
      end

      def entry(flags, text)
        first, *others = wrap(text)
        lines = ["  #{flags}".ljust(INDENT) + first, *others.map { |line| (" " * INDENT) + line }]
        "#{lines.join("\n")}\n"
      end

      def wrap(text)
        text.scan(/\S.{0,#{WIDTH - INDENT - 1}}(?=\s|\z)/).map { |line| line.tr(HARD_SPACE, " ") }
      end

      def unbroken(text)
        text.tr(" ", HARD_SPACE)
      end
    end
  end
end
