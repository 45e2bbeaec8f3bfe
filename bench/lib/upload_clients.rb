# frozen_string_literal: true

require_relative "upload"

module Bench
  # Clients that upload, a program of its own (see ClientProcess).
  class UploadClients
    def initialize(port)
      @port = port
    end

    # So many uploads at once; gives what became of each (see Upload).
    def upload(number: 1, **options)
      threads = Array.new(number) { Thread.new { Upload.new(@port, **options).run } }
      threads.map(&:value)
    end
  end
end
