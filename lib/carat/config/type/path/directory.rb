# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # A directory that exists and is writable.
      class Directory
        include AsWritten

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "there is no directory #{path}" unless File.directory?(path)

          reason = problem(path)
          raise InvalidValue, "#{path} #{reason}" if reason

          path
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "DIRECTORY"
        end

        private

        # Returns the reason why the existing directory at `path` does not do; nil if there is none.
        def problem(path)
          Type.write_obstacle(path)
        end
      end
    end
  end
end
