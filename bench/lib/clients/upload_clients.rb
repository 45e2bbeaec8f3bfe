# frozen_string_literal: true

module Bench
  # Clients that upload (see ClientProcess).
  class UploadClients
    def initialize(port)
      @port = port
    end

    # Runs `number` uploads at once; returns the result of each (see Upload).
    def upload(number: 1, **options)
      Array.new(number) { Thread.new { Upload.new(@port, **options).run } }.map(&:value)
    end
  end
end
