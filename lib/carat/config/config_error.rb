# frozen_string_literal: true

module Carat
  module Config
    # A wrong setting. The message is one line that begins with the place:
    # `carat.rb:4: workers: "many" is not a whole number of 1 or more`.
    class ConfigError < StandardError
    end
  end
end
