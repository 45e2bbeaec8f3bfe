# frozen_string_literal: true

require_relative "escape"

module Carat
  module Log
    # Paths relative to the working directory, as readers know them. They are converted to UTF-8, because Ruby refuses
    # to compare Strings of two encodings.
    module RelativePath
      module_function

      # Returns `text`, which may begin with a path, without the path of `directory`.
      def of(text, directory = Dir.pwd)
        Escape.utf8(text).delete_prefix("#{Escape.utf8(directory)}/")
      end
    end
  end
end
