# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # A file to append to; it may be missing, its directory may not.
      class LogFile
        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          directory = ::File.dirname(path)
          raise InvalidValue, "#{path} is a directory" if ::File.directory?(path)
          raise InvalidValue, "there is no directory #{directory}" unless ::File.directory?(directory)
          raise InvalidValue, "#{path} cannot be written to" unless appendable?(path)

          path
        end

        def text(value)
          value
        end

        def metavar
          "FILE"
        end

        private

        def appendable?(path)
          ::File.writable?(::File.exist?(path) ? path : ::File.dirname(path))
        end
      end
    end
  end
end
