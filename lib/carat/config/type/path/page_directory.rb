# frozen_string_literal: true

require_relative "directory"

module Carat
  module Config
    module Type
      # A directory that exists and is readable.
      class PageDirectory < Directory
        private

        def problem(path)
          Type.forbidden("read") unless File.readable?(path) && File.executable?(path)
        end
      end
    end
  end
end
