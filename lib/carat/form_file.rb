# frozen_string_literal: true

require "tempfile"
require_relative "native"
require_relative "response/spool"

module Carat
  # A file of a form that the edge has written: a Tempfile that gets a name only when it is asked for one.
  class FormFile < Tempfile
    # `file` is open for reading and writing, `filename` is the client's name for it, `directory` is where a name is
    # created.
    def initialize(file, filename, directory) # rubocop:disable Lint/MissingSuper -- it would create another file
      @extension = File.extname(filename.gsub("\0", "%00"))[0, 129]
      @directory = directory
      @unlinked = false
      __setobj__(file)
    end

    # A copy has the same content, and the name, if the file has one already: the name goes when the last of both is
    # collected. Tempfile would register a finalizer for a file that it created.
    def initialize_dup(other)
      __setobj__(other.__getobj__.dup)
    end

    # Copies as #initialize_dup does.
    def initialize_clone(other, freeze: nil)
      __setobj__(other.__getobj__.clone(freeze: freeze))
    end

    # Returns the path, for opening, copying or moving the file; nil once the file is unlinked.
    def path
      return if @unlinked

      @path ||= give_name
    end
    alias to_path path

    # Reopens the file and returns it, as Tempfile#open.
    def open
      name = path
      __getobj__.close
      __setobj__(File.open(name, "r+b"))
    end

    # Closes the file; #open reopens it unless it is unlinked.
    def close(unlink_now = false) # rubocop:disable Style/OptionalBooleanParameter -- as Tempfile has it
      path unless unlink_now || closed?
      __getobj__.close
      unlink if unlink_now
    end

    # Closes and unlinks the file.
    def close!
      close(true)
    end

    # Removes the name, and prevents a later one.
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

    # Returns a description, without creating a name.
    def inspect
      name = @path unless @unlinked
      "#<#{self.class}#{":#{name}" if name}#{" (closed)" if closed?}>"
    end
    alias to_s inspect

    # Returns the finalizer that removes `path`; it does nothing in a forked process.
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
      @owner = Object.new # which copies share
      ObjectSpace.define_finalizer(@owner, FormFile.remover(name))
      name
    end

    # Raises Errno::EEXIST when the name is taken.
    def link(path)
      file = __getobj__
      file.flush
      file.chmod(0o600)
      copy(path) unless Native.link_file(file.fileno, path)
    end

    # A file that was created with a name cannot be linked again: a copy replaces it.
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
