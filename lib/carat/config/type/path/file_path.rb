# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # A file that exists and is readable.
      class FilePath
        include AsWritten

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "#{path} is a directory" if File.directory?(path)
          raise InvalidValue, "there is no file #{path}" unless File.exist?(path)
          raise InvalidValue, "#{path} is not a regular file" unless File.file?(path)
          raise InvalidValue, "#{path} #{Type.forbidden("read")}" unless File.readable?(path)

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
