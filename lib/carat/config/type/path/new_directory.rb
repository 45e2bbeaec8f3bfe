# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # A directory that is made when it is needed.
      class NewDirectory
        include AsWritten

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "#{path} is not a directory" if File.exist?(path) && !File.directory?(path)

          path
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "DIRECTORY"
        end
      end
    end
  end
end
