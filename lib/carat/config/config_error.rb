# frozen_string_literal: true

module Carat
  module Config
    # A setting that cannot be used; the message is one line that begins with the place:
    # `carat.rb:4: workers: "many" is not a whole number of 1 or more`.
    class ConfigError < StandardError
    end
  end
end
