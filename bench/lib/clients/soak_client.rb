# frozen_string_literal: true

require "digest/sha2"
require "zlib"

module Bench
  # One client of bench/apps/soak.ru: each step is something else that a client may do, and is checked.
  class SoakClient
    include SoakUploads

    KINDS = %i[hello inline spooled chunked decoded form compressed file range large stream wait slow leave
               parked].freeze
    LARGE_BYTES = 1_000_000
    SLOW_RATE = 1_000_000
    SLOW_SECONDS = 30
    # A connection that was idle for longer may be closed by the server at any time.
    IDLE_SECONDS = 50
    # Connections that wait much longer for their next request than it takes until they are parked.
    PARKED = 6
    CODINGS = %w[gzip br zstd].freeze

    # content: of the file that the server serves, and of which bodies are made.
    def initialize(port, content, random)
      @port = port
      @content = content
      @random = random
      @parked = []
    end

    # Does something; returns what kind, and nil or what went wrong.
    def step
      kind = KINDS.sample(random: @random)
      [kind, send(kind)]
    rescue *HttpClient::GONE, Zlib::Error => e
      disconnect
      [kind, e.message]
    end

    def close
      disconnect
      @parked.each { |client, _| client.close }
    end

    private

    def hello = get("/")

    def large = get("/large")

    def stream = get("/stream")

    def wait = get("/wait")

    # Only gzip can be decoded here.
    def compressed
      coding = CODINGS.sample(random: @random)
      response = ask("/text", { "Accept-Encoding" => coding })
      return "coding #{response.headers["content-encoding"]}" unless response.headers["content-encoding"] == coding

      right?(response, Zlib.gunzip(response.body)) if coding == "gzip"
    end

    def file
      response = ask("/file")
      "status #{response.status}, #{response.body.bytesize} bytes" unless response.body == @content
    end

    def range
      first = @random.rand(@content.bytesize)
      last = @random.rand(first...@content.bytesize)
      response = ask("/file", { "Range" => "bytes=#{first}-#{last}" })
      "status #{response.status}" unless response.status == 206 && response.body == @content[first..last]
    end

    def slow
      get = PacedGet.new(@port, "/large", SLOW_RATE)
      deadline = Bench.now + SLOW_SECONDS
      until get.finished? || Bench.now > deadline
        get.step
        get.socket.wait_readable(Pace::STEP_SECONDS.max)
      end
      "#{get.bytes} bytes" unless get.finished? && get.complete?(LARGE_BYTES)
    ensure
      get&.close
    end

    # A client that goes: in the middle of its body, of its response, or after a request that it does not await.
    def leave
      client = HttpClient.new(@port)
      case @random.rand(3)
      when 0
        client.request("/digest", { "Content-Length" => SPOOLED_BYTES.max }, verb: "POST")
        client.socket.write(piece(INLINE_BYTES))
      when 1 then client.request("/large") && client.socket.readpartial(1000)
      else client.request("/wait")
      end
      nil
    ensure
      reset(client)
    end

    def parked
      close_old
      client = @parked.size < PARKED ? HttpClient.new(@port) : @parked.shift.first
      client.request("/")
      right?(client.response).tap { @parked.push([client, Bench.now]) }
    rescue *HttpClient::GONE
      client&.close
      raise
    end

    def close_old
      @parked.shift.first.close while @parked.any? && @parked.first.last < Bench.now - IDLE_SECONDS
    end

    def get(path) = right?(ask(path))

    def ask(path, headers = {})
      client.request(path, headers)
      client.response
    end

    def right?(response, body = response.body)
      right = response.status == 200 && response.headers["x-sha256"] == Digest::SHA256.hexdigest(body)
      "status #{response.status}, #{body.bytesize} bytes" unless right
    end

    def client = @client ||= HttpClient.new(@port)

    def disconnect
      @client&.close
      @client = nil
    end

    def reset(client)
      client&.socket&.setsockopt(Socket::Option.linger(true, 0))
      client&.close
    end
  end
end
