# frozen_string_literal: true

require_relative "config_error"

module Carat
  module Config
    # A value that its type rejects. The message gives the reason; the caller adds the place.
    class InvalidValue < StandardError
      # Returns what the block returns. Raises ConfigError, with the place, for a value that is rejected in it.
      def self.at(place)
        yield
      rescue InvalidValue => e
        raise ConfigError, "#{place}: #{e.message}"
      end
    end
  end
end
