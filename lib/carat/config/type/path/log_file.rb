# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # A file to append to. It need not exist; its directory must.
      class LogFile
        include AsWritten

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          directory = File.dirname(path)
          raise InvalidValue, "#{path} is a directory" if File.directory?(path)
          raise InvalidValue, "there is no directory #{directory}" unless File.directory?(directory)

          obstacle = Type.write_obstacle(path)
          raise InvalidValue, "#{path} #{obstacle}" if obstacle

          path
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "FILE"
        end
      end
    end
  end
end
