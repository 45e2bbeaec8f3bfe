# frozen_string_literal: true

module Bench
  # Clients that listen to streams of events (see ClientProcess).
  class EventClients
    # Connections opened at once; below every server's backlog.
    BATCH = 250
    BEGUN = ": begun\n\n"
    EVENT_SECONDS = 60
    PIECE_BYTES = 4096

    def initialize(port)
      @port = port
      @sockets = []
    end

    # Opens `count` streams and reads the beginning of each; returns how many began.
    def open(count:)
      count.times.each_slice(BATCH) do |numbers|
        batch = numbers.map { |number| HttpClient.new(@port, number: number) }
        batch.each { |client| client.request(path, fields) }
        @sockets.concat(begun(batch.map(&:socket)))
      end
      @sockets.size
    end

    # Has the server send one event to each; returns [how many received it, milliseconds until the last one did].
    def publish(text:)
      started = Bench.now
      HttpClient.get(@port, "/publish?#{text}")
      received = await(@sockets, event(text), started + EVENT_SECONDS)
      [received, ((Bench.now - started) * 1000).round(1)]
    end

    private

    # A stream begins with a request for this path, and these fields.
    def path = "/events"
    def fields = {}

    # Those whose stream begins.
    def begun(sockets) = receiving(sockets, BEGUN)

    # How the text reaches a client.
    def event(text) = "data: #{text}\n\n"

    # Those that receive the text in time.
    def receiving(sockets, text)
      sockets.select { |socket| await([socket], text, Bench.now + EVENT_SECONDS) == 1 }
    end

    # How many sockets receive the text in time.
    def await(sockets, text, deadline)
      bytes = sockets.to_h { |socket| [socket, +""] }.compare_by_identity
      waiting = sockets.dup
      until waiting.empty? || (left = deadline - Bench.now).negative?
        # Not IO.select, which has room for 1024.
        break unless waiting.first.wait_readable(left)

        waiting.reject! { |socket| read(socket, bytes[socket]).include?(text) }
      end
      sockets.size - waiting.size
    end

    def read(socket, bytes)
      piece = socket.read_nonblock(PIECE_BYTES, exception: false)
      piece.is_a?(String) ? bytes << piece : bytes
    rescue *HttpClient::GONE
      bytes
    end
  end
end
