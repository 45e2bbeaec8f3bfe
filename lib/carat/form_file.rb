# frozen_string_literal: true

require "tempfile"
require_relative "native"
require_relative "response/spool"

module Carat
  # A file of a form, which the edge has written without a name. It is a Tempfile, and gets a name when #path is first
  # called.
  class FormFile < Tempfile
    # `file` is open for reading and writing, `filename` is the client's name for it, and #path creates a name in
    # `directory`.
    def initialize(file, filename, directory) # rubocop:disable Lint/MissingSuper -- it would create another file
      @extension = File.extname(filename.gsub("\0", "%00"))[0, 129]
      @directory = directory
      @unlinked = false
      __setobj__(file)
    end

    # Copies the open file; a name that the file has already is shared, and removed when the last copy is collected.
    # Does not call Tempfile's method, which registers a finalizer for a file that it has created.
    def initialize_dup(other)
      __setobj__(other.__getobj__.dup)
    end

    # Copies as #initialize_dup does.
    def initialize_clone(other, freeze: nil)
      __setobj__(other.__getobj__.clone(freeze: freeze))
    end

    # Returns the path, which is created on the first call; nil once the file is unlinked.
    def path
      return if @unlinked

      @path ||= give_name
    end
    alias to_path path

    # Reopens the file and returns it, as Tempfile#open does.
    def open
      name = path
      __getobj__.close
      __setobj__(File.open(name, "r+b"))
    end

    # Closes the file. #open can reopen it unless it is unlinked, so that it gets a name first.
    def close(unlink_now = false) # rubocop:disable Style/OptionalBooleanParameter -- as Tempfile has it
      path unless unlink_now || closed?
      __getobj__.close
      unlink if unlink_now
    end

    # Closes and unlinks the file.
    def close!
      close(true)
    end

    # Removes the name if there is one, and prevents that #path creates one.
    def unlink
      return if @unlinked

      @unlinked = true
      return unless @path

      ObjectSpace.undefine_finalizer(@owner)
      FormFile.remove(@path)
    end
    alias delete unlink

    # Returns the size in bytes.
    def size
      closed? ? File.size(path) : __getobj__.size
    end
    alias length size

    # Returns a description, which does not create a name.
    def inspect
      name = @path unless @unlinked
      "#<#{self.class}#{":#{name}" if name}#{" (closed)" if closed?}>"
    end
    alias to_s inspect

    # Returns the finalizer that removes `path`. It does nothing in a forked process, because the parent still uses the
    # file.
    def self.remover(path)
      owner = Process.pid
      ->(_) { remove(path) if Process.pid == owner }
    end

    # Removes `path`, unless it has been removed or moved.
    def self.remove(path)
      File.unlink(path)
    rescue Errno::ENOENT
      nil
    end

    private

    def give_name
      name = Dir::Tmpname.create(["RackMultipart", @extension], @directory) { |path| link(path) }
      @owner = Object.new # the object that all copies share
      ObjectSpace.define_finalizer(@owner, FormFile.remover(name))
      name
    end

    # Gives the file the name `path`. Raises Errno::EEXIST when the name is taken.
    def link(path)
      file = __getobj__
      file.flush
      file.chmod(0o600)
      copy(path) unless Native.link_file(file.fileno, path)
    end

    # Replaces the file by a copy at `path`, where link(2) is not possible: for a file that was created with a name, and
    # then unlinked.
    def copy(path)
      file = __getobj__
      position = file.pos
      File.open(path, File::WRONLY | File::CREAT | File::EXCL, 0o600) do |copy|
        IO.copy_stream(file, copy, nil, 0)
      end
      file.reopen(path, "r+b").pos = position
    end
  end
end
