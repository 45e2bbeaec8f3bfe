# frozen_string_literal: true

require_relative "../config_error"
require_relative "../gone_options"
require_relative "../locale"
require_relative "../options"
require_relative "../settings"
require_relative "spelling"
require_relative "../type/number/whole_number"

module Carat
  module Config
    # Reads options from environment variables; an empty variable counts as unset.
    class Variables
      PORT = Type::WholeNumber.new(0..65_535)
      # The value of WEB_CONCURRENCY with which Puma forks no worker. Carat always forks workers, so it reads 1 instead.
      SINGLE_MODE = "0"
      private_constant :PORT, :SINGLE_MODE

      # Variables of Carat that set no option.
      OTHERS = /\ACARAT_(?:TEST_\w+|CONSOLE_LOG|UPGRADE|TRIXIE_ROOT|SID_ROOT)\z/
      PREFIX = /\ACARAT_/
      private_constant :OTHERS, :PREFIX

      # Returns a message for each variable in `env` that looks like one of Carat's and has no effect.
      def self.warnings(env)
        known = Options.flat_map(&:variables).grep(PREFIX)
        unknown = env.keys.grep(PREFIX).grep_v(OTHERS) - known
        unknown.map { |name| "#{name}: no such variable#{hint(name, known)}" }
      end

      # Compares names without CARAT_: with this common prefix, all names would be similar.
      def self.hint(name, known)
        gone = GoneOptions.hint(name)
        return gone unless gone.empty?

        bare = known.map { |variable| variable.sub(PREFIX, "") }
        Spelling.hint(name.sub(PREFIX, ""), bare).sub("mean ", "mean CARAT_")
      end
      private_class_method :hint

      def initialize(env)
        @env = env
      end

      # Sets `option` in `settings` from the strongest of its variables, if any is set. Raises ConfigError.
      def read(option, settings)
        name = option.variables.find { |variable| given?(variable) }
        settings.set(option, value(option, name), name) if name
      rescue InvalidValue => e
        raise ConfigError, "#{name}: #{e.message}"
      end

      # Whether the variable called `name` is set and not empty.
      def given?(name)
        !@env.fetch(name, "").strip.empty?
      end

      private

      def value(option, name)
        text = Locale.text(@env.fetch(name)).strip
        return "tcp://*:#{PORT.parse(text)}" if name == "PORT"
        return "1" if name == "WEB_CONCURRENCY" && text == SINGLE_MODE

        option.list? ? text.split(option.separator).map(&:strip) : text
      end
    end
  end
end
