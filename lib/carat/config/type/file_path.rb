# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # A file that is there and can be read.
      class File
        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "there is no file #{path}" unless ::File.file?(path)
          raise InvalidValue, "#{path} cannot be read" unless ::File.readable?(path)

          path
        end

        def text(value)
          value
        end

        def metavar
          "FILE"
        end
      end
    end
  end
end
