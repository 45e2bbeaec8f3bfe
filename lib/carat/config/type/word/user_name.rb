# frozen_string_literal: true

require "etc"
require_relative "../../invalid_value"
require_relative "as_written"

module Carat
  module Config
    module Type
      # The name of a user of this machine, or a user id.
      class UserName
        include AsWritten

        # Reads a String, Symbol or Integer, and returns a String; raises InvalidValue.
        def parse(value)
          name = value.to_s
          find(name) unless name.match?(/\A\d{1,9}\z/)
          name
        rescue ArgumentError
          raise InvalidValue, "there is no #{noun} #{value.inspect}"
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "NAME"
        end

        private

        def find(name)
          Etc.getpwnam(name)
        end

        def noun
          "user"
        end
      end
    end
  end
end
