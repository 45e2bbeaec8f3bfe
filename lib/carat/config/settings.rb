# frozen_string_literal: true

require_relative "config_error"
require_relative "locale"
require_relative "options"

module Carat
  module Config
    # The parsed options of one source.
    class Settings
      # Returns the settings of words such as `workers=2`. Raises KeyError for an unknown name, and ConfigError.
      def self.from_words(words)
        words.each_with_object(new) do |word, settings|
          name, value = Locale.text(word).split("=", 2)
          settings.set(Options.fetch(name.to_sym), value, name)
        end
      end

      def initialize
        @values = {}
        @places = {}
      end

      # Sets `option`; adds the value when the option is a list. Raises ConfigError, whose message begins with `place`,
      # for a wrong value, and when the settings are frozen.
      def set(option, value, place)
        raise ConfigError, "#{place}: is too late: the configuration has been read" if frozen?

        InvalidValue.at(place) do
          parsed = option.parse(value)
          parsed = option.join(@values[option.name] || [], parsed).freeze if option.list? && parsed
          @values[option.name] = parsed
          @places[option.name] ||= place
        end
      end

      # Whether this source has set the option called `name`.
      def key?(name)
        @values.key?(name)
      end

      # Returns the place where this source first set the option called `name`, such as `carat.rb:4: log`; raises
      # KeyError.
      def place(name)
        @places.fetch(name)
      end

      # Returns the value of the option called `name`; raises KeyError when this source has not set it.
      def fetch(name)
        @values.fetch(name)
      end
    end
  end
end
