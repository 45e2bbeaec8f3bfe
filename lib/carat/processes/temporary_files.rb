# frozen_string_literal: true

module Carat
  module Processes
    # The Tempfiles of a mold and of all processes that were forked from it, however indirectly. exit! runs no
    # finalizers, and an owner may end before its forks. The processes share a pipe, which is at its end once a single
    # one is left. In a process that has had a Ractor, Ruby does not show these objects, and the files stay.
    class TemporaryFiles
      class << self
        # Removes the files that this process has created, whose names contain its process id. Failures go to the
        # ProcessLog `log`.
        def remove_own(log)
          remove(log, /-#{Process.pid}-[^\/]*\z/)
        end

        # Removes the files whose paths match `pattern`.
        def remove(log, pattern)
          return unless Object.const_defined?(:Tempfile) && !Object.autoload?(:Tempfile)

          ObjectSpace.each_object(::Tempfile) { |file| unlink(file, log) if path(file)&.match?(pattern) }
        end

        private

        def unlink(file, log)
          file.close!
        rescue IOError, SystemCallError => e
          log.failure("cannot remove a temporary file", e)
        end

        # Returns nil also for a Tempfile whose file could not be created: it has no path to ask for.
        def path(file)
          file.path
        rescue NoMethodError, ArgumentError
          nil
        end
      end

      def initialize
        @reader, @writer = IO.pipe
      end

      # Call it when this process ends. Removes all files if it is the last one, and if not, with `own`, its own.
      def remove(log, own: false)
        return TemporaryFiles.remove(log, //) if last?

        TemporaryFiles.remove_own(log) if own
      end

      private

      def last?
        @writer.close
        @reader.read_nonblock(1, exception: false).nil?
      rescue IOError, SystemCallError
        false # The application has closed descriptors that are not its own.
      end
    end
  end
end
