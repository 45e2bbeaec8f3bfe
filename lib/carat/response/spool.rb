# frozen_string_literal: true

module Carat
  module Response
    # Unlinked files that hold large bodies until their clients have read them.
    module Spool
      FLAGS = File::RDWR
      private_constant :FLAGS
      # The errors of a file system without O_TMPFILE, and of a kernel without it.
      NAMELESS_UNKNOWN = [Errno::EOPNOTSUPP, Errno::EISDIR, Errno::ENOENT].freeze

      module_function

      # Yields an open file in `directory` with the Strings `pieces` in it, and returns the block's value. Raises
      # SystemCallError, for example when the disk is full.
      def open(directory, pieces)
        # File::BINARY does not make an IO binary on Linux, and Rails sets Encoding.default_internal: without binmode,
        # Ruby would transcode what is written.
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

      # Returns a file that never has a name. Raises NAMELESS_UNKNOWN where that is not possible, and SystemCallError.
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
