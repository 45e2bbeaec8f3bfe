# frozen_string_literal: true

module Carat
  module Processes
    # A mold and all processes that were forked from it, however indirectly. They share a pipe, which is at its end once
    # a single one is left.
    class Lineage
      def initialize
        @reader, @writer = IO.pipe
      end

      # Call it when this process ends. Returns whether it is the last one.
      def over?
        @writer.close
        @reader.read_nonblock(1, exception: false).nil?
      rescue IOError, SystemCallError
        false # The application has closed descriptors that are not its own.
      end
    end
  end
end
