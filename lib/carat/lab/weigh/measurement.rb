# frozen_string_literal: true

require "json"
require_relative "../../launch/mold_environment"
require_relative "../../launch/preload"
require_relative "../../launch/ruby_program"
require_relative "../../native_path"
require_relative "../lab_error"

module Carat
  module Lab
    module Weigh
      # Boots the application in a new process, with the allocator and the garbage collection of a mold.
      class Measurement
        # The directory for `ruby -I`.
        LIBRARY = File.expand_path("../../..", __dir__)

        # The program of that process.
        PROGRAM = "module Carat; Lab::Weigh::Boot.start(*ARGV); end"

        # The descriptor that receives the result.
        RESULT_FD = 3
        private_constant :RESULT_FD

        # `configuration` is a Configuration, `kind` "rackup" or "gemfile", `target` the file, `words` those of
        # Flags#words.
        def initialize(configuration, kind, target, words)
          @configuration = configuration
          @kind = kind
          @target = target
          @words = words
        end

        # Returns what Boot has measured, parsed. What the application prints goes to standard error. Raises LabError.
        def run
          refuse_other_allocators
          text = boot
          raise LabError, "carat: the application ended the process while it booted (#{@status.inspect})" if text.empty?

          result = JSON.parse(text)
          raise LabError, result.fetch("error") if result.key?("error")

          result
        end

        private

        def boot
          reader, writer = IO.pipe
          pid = Process.spawn(environment, *command, RESULT_FD => writer, in: File::NULL, out: :err)
          writer.close
          reader.read
        ensure
          reader.close
          writer.close
          _, @status = Process.wait2(pid) if pid
        end

        def environment
          Launch::MoldEnvironment.new(@configuration).to_h
        end

        def command
          paths = [LIBRARY, NativePath.directory].compact.uniq.flat_map { |path| ["-I", path] }
          [Launch::RubyProgram.path, *paths, "-r", "carat/lab/weigh/boot", "-e", PROGRAM, "--",
           RESULT_FD.to_s, @kind, @target, *@words]
        end

        def refuse_other_allocators
          return if Launch::Preload.new(@configuration, ENV).used?

          raise LabError, "carat: only Carat's allocator counts each byte: leave `allocator` at \"jemalloc\", " \
                          "preload no other one, and see `carat doctor`"
        end
      end
    end
  end
end
