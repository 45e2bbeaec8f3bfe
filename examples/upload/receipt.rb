# frozen_string_literal: true

require "json"
require_relative "checksum"

# The response to an upload: its name, size, and SHA-256, and the time that the application took.
class Receipt
  attr_reader :name, :bytes, :sha256, :seconds

  # Monotonic time in seconds.
  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # @param name [String, nil] the file's name
  # @param stream [#read] its content
  # @param begun [Float] when the application got the request, by Receipt.now
  def initialize(name, stream, begun:)
    checksum = Checksum.new(stream)
    @name = name
    @bytes = checksum.bytes
    @sha256 = checksum.sha256
    @seconds = (self.class.now - begun).round(3)
  end

  def to_json(*)
    JSON.generate(name: name, bytes: bytes, sha256: sha256, seconds: seconds, worker: Process.pid)
  end
end
