# frozen_string_literal: true

require_relative "../../native_path"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Checks whether all compiled files exist for this Ruby.
      class Build
        # `directory` is the directory of the extension, or nil. `edge` is the path of the edge program. `stale` is a
        # sentence if the build is of older sources, or nil. The block loads the extension.
        def initialize(_configuration, directory: NativePath.directory, edge: NativePath.edge,
                       stale: NativePath.stale, &load)
          @directory = directory
          @edge = edge
          @stale = stale
          @load = load || -> { require_relative "../../native" }
        end

        # Returns the Finding.
        def finding
          return problem(NativePath.missing) unless @directory
          return problem("#{@edge} is not executable") unless File.executable?(@edge)

          @load.call
          return Finding.warning("build", @stale) if @stale

          Finding.ok("build", "edge, allocator and extension for Ruby #{NativePath::ABI} are in #{@directory}")
        rescue LoadError => e
          problem("#{e.message.lines.first.chomp}; #{NativePath.remedy}")
        end

        private

        def problem(sentence)
          Finding.problem("build", sentence)
        end
      end
    end
  end
end
