# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # A directory that exists and is readable.
      class PageDirectory
        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          raise InvalidValue, "there is no directory #{path}" unless File.directory?(path)
          raise InvalidValue, "#{path} #{Type.forbidden("read")}" unless File.readable?(path) && File.executable?(path)

          path
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "DIRECTORY"
        end
      end
    end
  end
end
