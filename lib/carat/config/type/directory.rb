# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # A directory that is there and can be written to.
      class Directory
        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "there is no directory #{path}" unless ::File.directory?(path)
          raise InvalidValue, "#{path} cannot be written to" unless ::File.writable?(path)

          path
        end

        def text(value)
          value
        end

        def metavar
          "DIRECTORY"
        end
      end
    end
  end
end
