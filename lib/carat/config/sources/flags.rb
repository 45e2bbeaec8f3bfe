# frozen_string_literal: true

require "optparse"
require_relative "../../parts"
require_relative "../config_error"
require_relative "../gone_options"
require_relative "../options"
require_relative "../settings"
require_relative "spelling"

module Carat
  module Config
    # The options that flags set: a command line as a source of options. A `--help` or `--version` in it is noted in
    # `request`.
    class Flags
      # A parser that completes no flag: it refuses `--work`, and does not take `-k` for `--keep-previous`.
      # OptionParser's own `require_exact` fails with NoMethodError in Ruby 3.1.
      class ExactParser < OptionParser
        private

        def complete(kind, name, *)
          search(kind, name) { |switch| return [switch, name] }
          raise InvalidOption, name
        end
      end

      # The width of a flag in the help, in columns.
      FLAG_WIDTH = 36
      # The width of the text beside a flag, in columns.
      TEXT_WIDTH = 41
      # The space at which no line of the help ends.
      HARD_SPACE = "\u00a0"
      # The number of server options from which `summary` leaves them out, because they would hide the subcommand's own
      # flags.
      MANY = 20
      SERVER = "The options of the server count, too: carat --help lists them."
      private_constant :MANY, :SERVER, :ExactParser, :FLAG_WIDTH, :TEXT_WIDTH, :HARD_SPACE

      # The options that were set, as Settings.
      attr_reader :settings

      # The options that were set, as words that Settings.from_words reads.
      attr_reader :words

      # :help, :version or nil.
      attr_reader :request

      # `options` are the options that flags may set; `help` is the command that lists them. The block, if there is one,
      # gets the OptionParser, to define further flags.
      def initialize(options: Options.from(:flag), help: "carat --help")
        @settings = Settings.new
        @words = []
        @help = help
        @parser = ExactParser.new("", FLAG_WIDTH, "  ")
        yield @parser if block_given?
        @own = @parser.help.strip
        @others = options.size
        options.group_by(&:group).each { |group, members| define_group(group, members) }
        define_general
      end

      # Reads the flags in `argv`, an Array of Strings that is not changed, and returns the arguments that are not
      # flags. Raises ConfigError.
      def parse(argv)
        reading { @parser.permute(argv) }
      end

      # Reads the flags at the start of `argv`, and returns the other words, from the first argument on. Raises
      # ConfigError.
      def parse_leading(argv)
        reading { @parser.order(argv) }
      end

      # Returns the list of flags for `--help`.
      def to_s
        @parser.help.strip
      end

      # Returns all flags, as an Array of OptionParser::Switch.
      def switches
        @parser.top.list.grep(OptionParser::Switch)
      end

      # Returns the list for the help of a subcommand: only its own flags if it has some and the server's options are
      # many, otherwise all flags.
      def summary
        @own.empty? || @others < MANY ? to_s : "#{@own}\n\n#{SERVER}"
      end

      # Sets `option` to `value`, the text of a flag or an argument; nil stands for true. `place` begins the message of
      # the ConfigError that is raised for a wrong value.
      def set(option, value, place)
        text = value.nil? ? "true" : value.to_s
        @settings.set(option, text, place)
        @words << "#{option.name}=#{text}"
      end

      private

      def reading
        yield
      rescue OptionParser::ParseError => e
        raise ConfigError, problem(e)
      end

      def problem(error)
        flag = error.args.first[/\A[^=]+/]
        case error
        when OptionParser::MissingArgument then "#{flag}: needs a value"
        when OptionParser::NeedlessArgument then "#{flag}: takes no value"
        else "#{flag}: no such flag#{hint(flag)} (#{@help} lists them)"
        end
      end

      def hint(flag)
        hints = [GoneOptions.hint(flag), Parts.hint { |part| part.word_hint(flag) }, Spelling.hint(flag, names)]
        hints.find { |it| !it.empty? }
      end

      def names
        @parser.top.long.keys.map { |name| "--#{name}" }
      end

      def define_group(group, options)
        @parser.separator("#{group}:")
        options.each { |option| define(option) }
        @parser.separator("")
      end

      def define(option)
        @parser.on(*option.short, long(option), *lines(option)) do |value|
          # A value that begins like a flag is the next flag: the value was forgotten.
          raise OptionParser::MissingArgument, option.flag if value.to_s.start_with?("--")

          set(option, value, option.flag)
        rescue ConfigError => e
          raise ConfigError, "#{e.message}#{Parts.hint { |part| part.value_hint(option, [value]) }}"
        end
      end

      def define_general
        @parser.separator("General:")
        @parser.on("-h", "--help", "Show this text.") { @request = :help }
        @parser.on("-v", "--version", "Show the version.") { @request = :version }
      end

      def long(option)
        option.boolean? ? "--[no-]#{option.flag[2..]}[=BOOL]" : "#{option.flag} #{option.metavar}"
      end

      # The option's sentence, its further variables and its default, broken into lines.
      def lines(option)
        variables = " (#{option.env.join(", ")})" if option.env
        default = "[#{option.default_words}]".tr(" ", HARD_SPACE)
        text = "#{option.doc.delete_suffix(".")}#{variables} #{default}"
        text.scan(/\S.{0,#{TEXT_WIDTH - 1}}(?=\s|\z)/).map { |line| line.tr(HARD_SPACE, " ") }
      end
    end
  end
end
