# frozen_string_literal: true

require "carat/launch/surroundings/mold_environment"
require "carat/native"

module Carat
  module Lab
    # What a process that ApplicationProcess has started says to it: how far it is, and its result.
    class ProcessReport
      # Yields the report and the words that follow the number of its descriptor, and then ends the process.
      def self.open(words)
        Launch::MoldEnvironment.restore(ENV)
        Native.die_with_parent
        out = IO.for_fd(Integer(words.first, 10))
        out.close_on_exec = true
        out.sync = true
        yield new(out), *words.drop(1)
        leave
      end

      # Ends the process: the `at_exit` blocks of an application that has not served may do anything.
      def self.leave
        # Not before: it would be measured.
        require "carat/log/process_log"
        require "carat/processes/temporary_files"
        Processes::TemporaryFiles.remove_own(Log::ProcessLog.new)
        exit!(0)
      end

      # `out` is an IO.
      def initialize(out)
        @out = out
      end

      # Begins a step whose name the terminal shows.
      def step(name)
        @out.puts("step #{name}")
      end

      # A share of the step, from 0 to 1, is done.
      def advance(share)
        @out.puts("share #{share}")
      end

      # Hands over the result, a Hash for JSON.
      def result(hash)
        require "json" # not before: the application may be the one that loads it
        @out.puts(JSON.generate(hash))
      end
    end
  end
end
