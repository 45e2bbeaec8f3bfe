# frozen_string_literal: true

require "digest"
require "fileutils"
require "tmpdir"

module Bench
  # Files for clients to send, made when first needed and removed when the program ends.
  module TestFile
    Item = Struct.new(:path, :bytes, :sha256)
    PIECE_BYTES = 1 << 20
    # Not /tmp, which may be in memory.
    ROOT = "/var/tmp"
    # The same bytes in every run.
    SEED = 20_260

    # An Item of random bytes.
    def self.random(bytes)
      item("random-#{bytes}") { |path| Item.new(path, bytes, write_random(path, bytes)) }
    end

    # What the block returns, which gets a path and makes the file, once for each name.
    def self.item(name)
      @items ||= {}
      @items[name] ||= yield path(name)
    end

    # A path for a server to use.
    def self.path(name) = File.join(directory, name)

    # What is free for files.
    def self.free_megabytes = IO.popen(["df", "-Pm", ROOT], &:readlines).last.split[3].to_i

    def self.directory
      @directory ||= Dir.mktmpdir("carat-bench-", ROOT).tap do |path|
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
