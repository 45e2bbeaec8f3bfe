# frozen_string_literal: true

module Carat
  module CLI
    # What to do about functions of C that a report cannot name.
    module UnnamedFunctions
      # How a report writes them.
      PLACE = /\A(?<library>.+)\+0x\h+\z/
      PROGRAM = "addr2line"
      private_constant :PLACE, :PROGRAM

      module_function

      # Returns a sentence about those among the names, nil if there are none. `path` is where programs are.
      def remark(names, path: ENV.fetch("PATH", ""))
        libraries = names.filter_map { |name| name[PLACE, :library] }.uniq
        return if libraries.empty?

        "No names for functions of #{libraries.join(", ")}: #{remedy(path)}."
      end

      def remedy(path)
        found = path.split(File::PATH_SEPARATOR).any? { |directory| File.executable?(File.join(directory, PROGRAM)) }
        return "install #{PROGRAM} (apt install binutils)" unless found

        "install the debug symbols, or build without stripping them"
      end
      private_class_method :remedy
    end
  end
end
