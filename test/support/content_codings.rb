# frozen_string_literal: true

require "open3"
require "zlib"

module Support
  # Content codings as other programs write them.
  module ContentCodings
    NAMES = %w[gzip deflate br zstd].freeze

    module_function

    # The bytes in these codings, the first applied first.
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

    def pipe(body, *command)
      coded, status = Open3.capture2(*command, stdin_data: body, binmode: true)
      raise "#{command.join(" ")}: #{status}" unless status.success?

      coded
    end
  end
end
