# frozen_string_literal: true

require "carat/log/relative_path"

module Carat
  module CLI
    # Paths of Ruby files as readers know them.
    module ShortPath
      # The directory from which `require` loads a file: a gem's, Ruby's, or that of a package.
      DIRECTORY = %r{\A/.*/(lib|vendor_ruby|site_ruby|\d+\.\d+\.\d+)/}
      private_constant :DIRECTORY

      module_function

      # Returns the path from the working directory, or from the directory of which it was loaded.
      def of(path)
        Log::RelativePath.of(path).sub(DIRECTORY, "")
      end
    end
  end
end
