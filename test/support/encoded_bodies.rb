# frozen_string_literal: true

require "uri"

module Support
  # An application with compressible responses of every kind of body.
  module EncodedBodies
    APP = <<~'RUBY'
      require "rack"

      Each = Struct.new(:pieces) do
        def each(&block)
          pieces.each(&block)
        end
      end
      Named = Struct.new(:to_path) do
        def each
          yield "read by each"
        end
      end

      text = { "content-type" => "text/plain" }
      lines = Array.new(200_000) { |n| "line #{n * n}\n" }.join.freeze
      part = ->(bytes) { lines[0, bytes.to_i] }
      File.write("large.txt", lines)
      File.write("medium.txt", part.call(50_000))
      pieces = [part.call(3000), "", "\u00e4\0", part.call(70_000)]
      chunks = pieces.reject(&:empty?).map { |piece| "#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n" } << "0\r\n\r\n"
      declared = ->(bytes) { text.merge("content-length" => bytes.to_s) }

      # A body of 2000 bytes whose status and headers are those of the query.
      with = lambda do |env|
        fields = Rack::Utils.parse_query(env["QUERY_STRING"])
        status = fields.delete("status").to_i
        [status.zero? ? 200 : status, text.merge(fields), [204, 304].include?(status) ? [] : [part.call(2000)]]
      end
      gated = lambda do |out|
        out << "data: first\n\n"
        sleep 0.005 until File.exist?("gate")
        out << "data: second\n\n"
      end

      answers = {
        "/bytes" => ->(env) { [200, text, [part.call(env["QUERY_STRING"])]] },
        "/each" => ->(_env) { [200, text, Each.new(pieces)] },
        "/callable" => ->(_env) { [200, text, ->(stream) { [pieces.each { |piece| stream << piece }, stream.close] }] },
        "/chunked" => ->(_env) { [200, text.merge("transfer-encoding" => "chunked"), Each.new(chunks)] },
        "/known" => ->(_env) { [200, declared.call(pieces.sum(&:bytesize)), Each.new(pieces)] },
        "/medium-file" => ->(_env) { [200, text, Named.new("medium.txt")] },
        "/large-file" => ->(_env) { [200, text, Named.new("large.txt")] },
        "/too-short" => ->(_env) { [200, declared.call(99_999), Each.new(pieces)] },
        "/too-long" => ->(_env) { [200, declared.call(2000), Each.new(pieces)] },
        "/broken" => ->(_env) { [200, text, Enumerator.new { |out| out << part.call(5000); raise "a broken body" }] },
        "/events" => ->(_env) { [200, { "content-type" => "text/event-stream" }, Enumerator.new(&gated)] },
        "/open" => ->(_env) { [200, text, Enumerator.new { |out| out << "open"; sleep }] },
        "/with" => with
      }
      run ->(env) { answers.fetch(env["PATH_INFO"]).call(env) }
    RUBY

    LINES = Array.new(200_000) { |n| "line #{n * n}\n" }.join.b.freeze
    PIECES = "#{LINES[0, 3000]}\u00e4\0#{LINES[0, 70_000]}".b.freeze

    # Response bodies by path.
    ALL = { "/bytes?2000" => LINES[0, 2000], "/bytes?60000" => LINES[0, 60_000], "/bytes?100000" => LINES[0, 100_000],
            "/bytes?500000" => LINES[0, 500_000], "/each" => PIECES, "/callable" => PIECES, "/chunked" => PIECES,
            "/known" => PIECES, "/medium-file" => LINES[0, 50_000], "/large-file" => LINES }.freeze

    # The path of a response with this status and these headers.
    def self.with(**fields)
      "/with?#{URI.encode_www_form(fields)}"
    end
  end
end
