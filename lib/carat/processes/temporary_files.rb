# frozen_string_literal: true

module Carat
  module Processes
    # The Tempfiles of a mold and of all processes that descend from it. They have to be removed here, because exit!
    # runs no finalizers, and a process may end before its forks, which use its files. All these processes share a pipe,
    # whose end of file shows the last process that no other is left. In a process that has had a Ractor, Ruby does not
    # list these objects, and the files stay.
    class TemporaryFiles
      class << self
        # Removes the files that this process has created: their names contain its process id. Failures go to the
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

        # Returns the path, or nil. A Tempfile whose file could not be created raises when it is asked for its path.
        def path(file)
          file.path
        rescue NoMethodError, ArgumentError
          nil
        end
      end

      def initialize
        @reader, @writer = IO.pipe
      end

      # Removes files when this process ends: all files if it is the last process, otherwise, with `own`, those that it
      # has created.
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
