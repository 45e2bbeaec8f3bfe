# frozen_string_literal: true

require_relative "escape"

module Carat
  module Log
    # Paths as readers know them, in UTF-8 whatever their encoding: Ruby refuses to compare two encodings.
    module RelativePath
      module_function

      # Returns `text`, which may begin with a path, without the path of `directory`.
      def of(text, directory = Dir.pwd)
        Escape.utf8(text).delete_prefix("#{Escape.utf8(directory)}/")
      end
    end
  end
end
