# frozen_string_literal: true

module Carat
  module Response
    # Unlinked files that hold large bodies until their clients have read them.
    module Spool
      FLAGS = File::RDWR
      private_constant :FLAGS
      # The errors with which O_TMPFILE fails in a file system, or on a kernel, that does not have it.
      NAMELESS_UNKNOWN = [Errno::EOPNOTSUPP, Errno::EISDIR, Errno::ENOENT].freeze

      module_function

      # Yields an open file in `directory` whose content is `pieces`, an Array of Strings, and returns the block's
      # value. Raises SystemCallError, for example when the disk is full.
      def open(directory, pieces)
        # Without binmode, Ruby would transcode what is written: Rails sets Encoding.default_internal, and on Linux
        # File::BINARY does not make an IO binary.
        file = create(directory).binmode
        file.sync = true
        pieces.each { |piece| file.write(piece) }
        yield file
      ensure
        file&.close
      end

      # Returns a new file in `directory` that has no name. Raises SystemCallError.
      def create(directory)
        create_nameless(directory)
      rescue *NAMELESS_UNKNOWN
        create_named(directory)
      end

      # Returns a file that never has a name. Raises one of NAMELESS_UNKNOWN where that is not possible, and other
      # SystemCallErrors.
      def create_nameless(directory)
        File.open(directory, FLAGS | File::TMPFILE, 0o600)
      end

      # Returns a file whose name is removed at once. Raises SystemCallError.
      def create_named(directory)
        path = File.join(directory, "carat-#{Process.pid}-#{Random.bytes(8).unpack1('H*')}")
        File.open(path, FLAGS | File::CREAT | File::EXCL, 0o600).tap { File.unlink(path) }
      end
    end
  end
end
