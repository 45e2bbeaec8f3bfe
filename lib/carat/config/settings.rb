# frozen_string_literal: true

require_relative "config_error"
require_relative "invalid_value"

module Carat
  module Config
    # The options that one source has set, already parsed.
    class Settings
      def initialize
        @values = {}
      end

      # Sets `option`; a list grows instead. Raises ConfigError whose message begins with `place`, also when the
      # settings are frozen.
      def set(option, value, place)
        raise ConfigError, "#{place}: comes too late, the configuration has been read" if frozen?

        parsed = option.parse(value)
        @values[option.name] = option.list? ? [*@values[option.name], *parsed].freeze : parsed
      rescue InvalidValue => e
        raise ConfigError, "#{place}: #{e.message}"
      end

      def key?(name)
        @values.key?(name)
      end

      # Returns the value of the option called `name`; raises KeyError when this source has not set it.
      def fetch(name)
        @values.fetch(name)
      end
    end
  end
end
