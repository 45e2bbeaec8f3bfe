# frozen_string_literal: true

require "open3"
require "zlib"

module Support
  # Content codings, written and read by other programs.
  module ContentCodings
    NAMES = %w[gzip deflate br zstd].freeze

    module_function

    # Applies the codings in their order.
    def encode(plain, *codings, level: nil)
      codings.reduce(plain) { |body, coding| apply(coding, body, level) }
    end

    def apply(coding, body, level)
      case coding
      when "gzip" then Zlib.gzip(body, level: level)
      when "deflate" then Zlib.deflate(body, level)
      when "br" then pipe(body, "brotli", "-c", "-q", (level || 5).to_s, "-")
      when "zstd" then pipe(body, "zstd", "-c", "-q", "-#{level || 3}", "-")
      end
    end

    # Removes the coding. The bytes must be complete.
    def decode(coded, coding)
      case coding
      when "gzip" then Zlib.gunzip(coded)
      when "br" then pipe(coded, "brotli", "-d", "-c", "-")
      when "zstd" then pipe(coded, "zstd", "-d", "-c", "-q")
      end
    end

    def pipe(body, *command)
      coded, status = Open3.capture2(*command, stdin_data: body, binmode: true)
      raise "#{command.join(" ")}: #{status}" unless status.success?

      coded
    end
  end
end
