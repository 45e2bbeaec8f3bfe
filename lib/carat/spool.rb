# frozen_string_literal: true

module Carat
  # An unlinked file that holds a large body until its client has read it.
  module Spool
    FLAGS = File::RDWR | File::BINARY

    module_function

    # Yields an open file in `directory` that contains the Strings `pieces`, and returns the block's value. Raises
    # SystemCallError, as when the disk is full.
    def open(directory, pieces)
      file = create(directory)
      file.sync = true
      pieces.each { |piece| file.write(piece) }
      yield file
    ensure
      file&.close
    end

    def create(directory)
      File.open(directory, FLAGS | File::TMPFILE, 0o600)
    rescue Errno::EOPNOTSUPP, Errno::EISDIR, Errno::ENOENT
      create_named(directory) # not every file system has O_TMPFILE
    end

    def create_named(directory)
      path = File.join(directory, "carat-#{Process.pid}-#{Random.bytes(8).unpack1('H*')}")
      File.open(path, FLAGS | File::CREAT | File::EXCL, 0o600).tap { File.unlink(path) }
    end
  end
end
