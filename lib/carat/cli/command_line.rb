# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/options"
require_relative "../config/settings"
require_relative "../config/spelling"
require_relative "command_flags"

module Carat
  module CLI
    # The words after `carat`: which command they ask for and which options they set.
    class CommandLine
      # The commands that are words; one of them may come before the rackup file.
      WORDS = { "check" => :check, "doctor" => :doctor, "memory" => :memory }.freeze
      COMMANDS = { "-h" => :help, "--help" => :help, "-v" => :version, "--version" => :version }.freeze
      FLAGS = Config::Options.from(:flag).flat_map { |option| [[option.flag, option], [option.short, option]] }
                     .to_h.reject { |flag, _option| flag.nil? }.freeze
      NEGATIVE_FLAGS = Config::Options.select(&:boolean?).to_h { |option| ["--no-#{option.flag[2..]}", option] }.freeze

      LONG = /\A(--[^=]+)(?:=(.*))?\z/m
      SHORT = /\A(-[^-])(.+)?\z/m
      private_constant :WORDS, :COMMANDS, :FLAGS, :NEGATIVE_FLAGS, :LONG, :SHORT

      # :serve, :check, :doctor, :memory, :help or :version.
      attr_reader :command

      # The command that help is wanted for; nil for all of them.
      attr_reader :topic

      # The flags that only this command has, by name; see CommandFlags.
      attr_reader :flags

      # The options that the flags set, as Settings.
      attr_reader :settings

      # Reads `argv`, an Array of Strings that stays as it is; raises ConfigError.
      def initialize(argv)
        @command = :serve
        @settings = Config::Settings.new
        @command_flags = CommandFlags.new
        @arguments = []
        @words = argv.dup
        read(@words.shift) until @words.empty?
        name_rackup
        @flags = @command_flags.for(@topic || @command)
      end

      private

      def read(word)
        case word
        when *COMMANDS.keys then general(COMMANDS.fetch(word))
        when "--" then @arguments.concat(@words.slice!(0..))
        when LONG, SHORT then read_flag(Regexp.last_match(1), Regexp.last_match(2))
        else read_argument(word)
        end
      end

      def general(command)
        @topic = @command if command == :help && CommandFlags::TABLE.key?(@command)
        @command = command
      end

      def read_argument(word)
        if WORDS.key?(word) && @arguments.empty? && @command == :serve
          @command = WORDS.fetch(word)
        else
          @arguments << word
        end
      end

      def read_flag(flag, value)
        return @command_flags.add(flag, value) { following(flag) } if CommandFlags::NAMES.include?(flag)
        return settings.set(NEGATIVE_FLAGS[flag], false, flag) if NEGATIVE_FLAGS.key?(flag) && value.nil?

        option = FLAGS.fetch(flag) { refuse(flag) }
        settings.set(option, value || (option.boolean? ? true : following(flag)), flag)
      end

      def following(flag)
        raise Config::ConfigError, "#{flag}: needs a value" if @words.empty? || @words.first.start_with?("--")

        @words.shift
      end

      def refuse(flag)
        known = [*FLAGS.keys, *NEGATIVE_FLAGS.keys, *COMMANDS.keys, *CommandFlags::NAMES].grep(/\A--/)
        raise Config::ConfigError,
              "#{flag}: no such flag#{Config::Spelling.hint(flag, known)} (carat --help lists them)"
      end

      def name_rackup
        return if @arguments.empty?
        raise Config::ConfigError, "#{@arguments[1]}: one rackup file is enough" if @arguments.size > 1

        settings.set(Config::Options.fetch(:rackup), @arguments.first, "carat") unless %i[help memory
version].include?(command)
      end
    end
  end
end
