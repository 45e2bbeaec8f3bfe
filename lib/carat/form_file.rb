# frozen_string_literal: true

require "tempfile"
require_relative "native"
require_relative "response/spool"

module Carat
  # A file of a form that the edge has written: a Tempfile that has no name until it is asked for one.
  class FormFile < Tempfile
    # `file` is open for reading and writing; `filename` is what the client calls it; the file gets its name in
    # `directory`.
    def initialize(file, filename, directory) # rubocop:disable Lint/MissingSuper -- it would make another file
      @extension = File.extname(filename.gsub("\0", "%00"))[0, 129]
      @directory = directory
      @unlinked = false
      __setobj__(file)
    end

    # Returns the path, by which the file can be opened, copied and moved; nil once it is unlinked.
    def path
      return if @unlinked

      @path ||= give_name
    end
    alias to_path path

    # Opens the file anew and returns it, as Tempfile does.
    def open
      name = path
      __getobj__.close
      __setobj__(File.open(name, "r+b"))
    end

    # A file that is closed can be opened again by its name, as long as it is not unlinked.
    def close(unlink_now = false) # rubocop:disable Style/OptionalBooleanParameter -- as Tempfile has it
      path unless unlink_now || closed?
      __getobj__.close
      unlink if unlink_now
    end

    # Closes the file for good.
    def close!
      close(true)
    end

    # Takes the name away, or sees to it that there never is one.
    def unlink
      return if @unlinked

      @unlinked = true
      return unless @path

      ObjectSpace.undefine_finalizer(self)
      FormFile.remove(@path)
    end
    alias delete unlink

    # Returns the number of bytes.
    def size
      closed? ? File.size(path) : __getobj__.size
    end
    alias length size

    # Returns the name, if there is one; to look at the file gives it none.
    def inspect
      name = @path unless @unlinked
      "#<#{self.class}#{":#{name}" if name}#{" (closed)" if closed?}>"
    end
    alias to_s inspect

    # What removes `path` when its Tempfile is collected; a forked process does not.
    def self.remover(path)
      owner = Process.pid
      ->(_) { remove(path) if Process.pid == owner }
    end

    # Removes `path`, unless somebody else has, or has moved it.
    def self.remove(path)
      File.unlink(path)
    rescue Errno::ENOENT
      nil
    end

    private

    def give_name
      name = Dir::Tmpname.create(["RackMultipart", @extension], @directory) { |path| link(path) }
      ObjectSpace.define_finalizer(self, FormFile.remover(name))
      name
    end

    # Raises Errno::EEXIST when there is such a file.
    def link(path)
      file = __getobj__
      file.flush
      file.chmod(0o600)
      copy(path) unless Native.link_file(file.fileno, path)
    end

    # A file that was made with a name cannot get another one: a copy takes its place.
    def copy(path)
      file = __getobj__
      place = file.pos
      File.open(path, File::WRONLY | File::CREAT | File::EXCL, 0o600) do |copy|
        IO.copy_stream(file, copy, nil, 0)
      end
      file.reopen(path, "r+b").pos = place
    end
  end
end
