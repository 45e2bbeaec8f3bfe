# frozen_string_literal: true

module Carat
  module Response
    # An unlinked file that holds a large body until its client has read it.
    module Spool
      FLAGS = File::RDWR
      private_constant :FLAGS
      # How a file system without O_TMPFILE answers, and a kernel that does not know the flag.
      NAMELESS_UNKNOWN = [Errno::EOPNOTSUPP, Errno::EISDIR, Errno::ENOENT].freeze

      module_function

      # Yields an open file in `directory` that contains the Strings `pieces`, and returns the block's value. Raises
      # SystemCallError, as when the disk is full.
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

      def create(directory)
        create_nameless(directory)
      rescue *NAMELESS_UNKNOWN
        create_named(directory)
      end

      def create_nameless(directory)
        File.open(directory, FLAGS | File::TMPFILE, 0o600)
      end

      def create_named(directory)
        path = File.join(directory, "carat-#{Process.pid}-#{Random.bytes(8).unpack1('H*')}")
        File.open(path, FLAGS | File::CREAT | File::EXCL, 0o600).tap { File.unlink(path) }
      end
    end
  end
end
