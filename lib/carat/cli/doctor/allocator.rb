# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "../../native_path"
require_relative "../../launch/preload"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Who would give the mold and its workers their memory.
      class Allocator
        LIBRARY = File.expand_path("../../..", __dir__)
        TELL = 'require "carat/native"; print Carat::Native.allocator[:name]'

        # The block is given the variables that a mold gets, and returns the allocator's name in such a process.
        def initialize(configuration, environment: ENV, library: NativePath.malloc, &probe)
          @asked = configuration[:allocator]
          @library = library
          @preload = Launch::Preload.new(configuration, environment, library:)
          @probe = probe || method(:probe)
        end

        def finding
          return warning("carat/malloc.so is missing: #{NativePath.remedy}") unless @library
          return warning("#{name}, as #{@preload.obstacle}") if @preload.obstacle
          return Finding.ok("allocator", "#{name}, #{reason}") unless @preload.used?
          return Finding.ok("allocator", "#{name}, which Carat preloads") if name.start_with?("jemalloc")

          warning("#{name}, though Carat preloads jemalloc: the dynamic loader does not take #{@library}; " \
                  "install Carat on a file system without noexec, or set allocator to \"system\"")
        end

        private

        def reason
          return "as #{@preload.theirs} is preloaded" if @asked == "jemalloc"

          "as allocator says; \"jemalloc\" keeps less of what threads have freed"
        end

        def name
          @name ||= @probe.call(@preload.variables)
        end

        def probe(variables)
          output, status = Open3.capture2(variables, RbConfig.ruby, "-I", LIBRARY, "-e", TELL, err: File::NULL)
          status.success? ? output : "an allocator that cannot be told"
        end

        def warning(sentence)
          Finding.warning("allocator", sentence)
        end
      end
    end
  end
end
