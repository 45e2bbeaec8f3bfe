# frozen_string_literal: true

require "carat/native_path"

module Carat
  module Lab
    # Where the processes that a measurement starts find Carat and this gem.
    module Library
      # The directory of this gem's Ruby code.
      OWN = File.expand_path("../..", __dir__)

      # The directory of Carat's.
      SERVER = File.join(NativePath::ROOT, "lib")

      # The directories of Ruby code whose lines are not the application's.
      CODE = ["#{SERVER}/carat/", "#{OWN}/carat/"].freeze

      NATIVE = "carat/lab.so"
      private_constant :NATIVE

      module_function

      # Returns the directories for the load path of a process that may know neither.
      def directories
        native = $LOAD_PATH.map(&:to_s).find { |path| File.file?(File.join(path, NATIVE)) }
        [SERVER, OWN, *native].uniq
      end

      # Returns words that set the load path of Ruby.
      def flags
        directories.flat_map { |path| ["-I", path] }
      end
    end
  end
end
