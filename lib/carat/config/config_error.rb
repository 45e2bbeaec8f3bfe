# frozen_string_literal: true

module Carat
  module Config
    # A wrong setting. The message is one line that begins with the place:
    # `carat.rb:4: workers: "many" is not a whole number of 1 or more`.
    class ConfigError < StandardError
    end

    # A value that its type rejects. The message gives the reason; the caller adds the place.
    class InvalidValue < StandardError
      # Returns what the block returns. When the block raises InvalidValue, raises ConfigError with `place` before the
      # reason.
      def self.at(place)
        yield
      rescue InvalidValue => e
        raise ConfigError, "#{place}: #{e.message}"
      end
    end
  end
end
