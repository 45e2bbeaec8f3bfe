# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "../../native_path"
require_relative "../../launch/surroundings/preload"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Checks which allocator the mold and its workers would use.
      class Allocator
        # The directory for `ruby -I`.
        LIBRARY = File.expand_path("../../..", __dir__)
        TELL = 'require "carat/native"; print Carat::Native.allocator[:name]'
        private_constant :TELL

        # The block gets the environment variables of a mold, and returns the name of the allocator in a process that
        # has them.
        def initialize(configuration, environment: ENV, library: NativePath.malloc, &probe)
          @asked = configuration[:allocator]
          @library = library
          @preload = Launch::Preload.new(configuration, environment, library:)
          @probe = probe || method(:probe)
        end

        # Returns the Finding.
        def finding
          return warning("carat/malloc.so is missing: #{NativePath.remedy}") unless @library
          return warning("#{name}, as #{@preload.obstacle}") if @preload.obstacle
          return Finding.ok("allocator", "#{name}, #{reason}") unless @preload.used?
          return Finding.ok("allocator", "#{name}, which Carat preloads") if name.start_with?("jemalloc")

          warning("#{name}, though Carat preloads jemalloc: the dynamic loader rejects #{@library}; " \
                  "install Carat on a file system without noexec, or set allocator to \"system\"")
        end

        private

        def reason
          return "as #{@preload.theirs} is preloaded" if @asked == "jemalloc"

          "as configured; \"jemalloc\" returns more of the memory that threads free"
        end

        def name
          @name ||= @probe.call(@preload.variables)
        end

        def probe(variables)
          output, status = Open3.capture2(variables, RbConfig.ruby, "-I", LIBRARY, "-e", TELL, err: File::NULL)
          status.success? ? output : "an unknown allocator"
        end

        def warning(sentence)
          Finding.warning("allocator", sentence)
        end
      end
    end
  end
end
