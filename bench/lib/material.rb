# frozen_string_literal: true

require "digest"
require "tmpdir"

module Bench
  # Files that clients send, made when first needed and removed at the end of the program.
  module Material
    # A file and the digest of what it stands for.
    Item = Struct.new(:path, :bytes, :sha256)
    PIECE_BYTES = 1 << 20
    # The same bytes in every run.
    SEED = 20_260

    # So many random bytes.
    def self.random(bytes)
      item("random-#{bytes}") { |path| Item.new(path, bytes, write_random(path, bytes)) }
    end

    # The Item of this name; the block gets its path and makes it.
    def self.item(name)
      @items ||= {}
      @items[name] ||= yield File.join(directory, name)
    end

    # The path of a directory of this name, which a server makes and fills.
    def self.folder(name)
      File.join(directory, name)
    end

    # In /var/tmp, since /tmp may be memory.
    def self.directory
      @directory ||= Dir.mktmpdir("carat-bench-", "/var/tmp").tap do |path|
        owner = Process.pid
        at_exit { FileUtils.remove_entry(path) if Process.pid == owner }
      end
    end

    def self.write_random(path, bytes)
      random = Random.new(SEED)
      digest = Digest::SHA256.new
      File.open(path, "wb") do |file|
        (0...bytes).step(PIECE_BYTES) do |offset|
          piece = random.bytes([PIECE_BYTES, bytes - offset].min)
          digest << piece
          file.write(piece)
        end
      end
      digest.hexdigest
    end

    private_class_method :directory, :write_random
  end
end
