# frozen_string_literal: true

require "json"
require_relative "../../launch/mold_environment"
require_relative "../../launch/preload"
require_relative "../../launch/ruby_program"
require_relative "../../native_path"
require_relative "../interrupts"
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

        # Seconds between two looks at the clock.
        TICK = 0.2
        CHUNK = 64 * 1024
        private_constant :RESULT_FD, :TICK, :CHUNK

        # `configuration` is a Configuration, `kind` "rackup" or "gemfile", `target` the file, `words` those of
        # Flags#words, `progress` a Progress.
        def initialize(configuration, kind, target, words, progress)
          @configuration = configuration
          @kind = kind
          @target = target
          @words = words
          @progress = progress
        end

        # Returns what Boot has measured, parsed. What the application prints goes to standard error. An Interrupt ends
        # the boot, and the result says what it took so far; a second one ends everything. Raises LabError.
        def run
          refuse_other_allocators
          text = Interrupts.raising { boot }
          raise LabError, "carat: the application ended the process while it booted (#{@status.inspect})" if text.empty?

          result = JSON.parse(text)
          raise LabError, result.fetch("error") if result.key?("error")

          result
        end

        private

        # The process has a group of its own, so that a terminal interrupts only this one.
        def boot
          reader, writer = IO.pipe
          @pid = Process.spawn(environment, *command, RESULT_FD => writer, in: File::NULL, out: :err, pgroup: true)
          writer.close
          receive(reader)
        rescue Interrupt
          signal(:KILL)
          raise LabError, "carat: interrupted"
        ensure
          [reader, writer].each(&:close)
          @progress.clear
          _, @status = Process.wait2(@pid) if @pid
        end

        def receive(reader)
          @progress.step("booting the application")
          text = String.new
          begin
            loop { IO.select([reader], nil, nil, TICK) ? text << reader.readpartial(CHUNK) : @progress.tick }
          rescue EOFError
            text
          rescue Interrupt
            signal(:INT)
            text << reader.read
          end
        end

        def signal(name)
          Process.kill(name, @pid)
        rescue Errno::ESRCH
          nil # it has ended
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
