# frozen_string_literal: true

module Bench
  # Clients of the event stream of apps/ledger.ru. One whose stream ends begins another from its last event on.
  class LedgerStreams
    PAUSE_SECONDS = 0.1
    SILENCE_SECONDS = 10
    PIECE_BYTES = 1 << 14
    private_constant :PAUSE_SECONDS, :SILENCE_SECONDS, :PIECE_BYTES

    # What one client has received: numbers, how often its stream ended, when it heard last, and its longest silence.
    Received = Struct.new(:numbers, :ends, :heard, :silence) do
      # How many numbers between the first and the last are not there.
      def missing = numbers.empty? ? 0 : numbers.max - numbers.min + 1 - numbers.uniq.size
      def twice = numbers.size - numbers.uniq.size
      def size = numbers.size
    end

    # A sentence about what the clients have received.
    def self.compare(received)
      events, ends, missing, twice = %i[size ends missing twice].map { |fact| received.sum(&fact) }
      "#{received.size} streams, #{events} events, ended #{ends} times, missing #{missing}, twice #{twice}, " \
        "silent for at most #{received.map(&:silence).max.round(1)} s"
    end

    def initialize(port, count)
      @port = port
      @threads = Array.new(count) { Thread.new { listen } }
    end

    # Ends them; returns what they have received.
    def finish
      @over = true
      self.class.compare(@threads.map(&:value))
    end

    private

    def listen
      received = Received.new([], 0, Bench.now, 0)
      until @over
        follow(received)
        received.ends += 1 unless @over
      end
      received
    end

    def follow(received)
      client = HttpClient.new(@port)
      client.request("/events", { "Last-Event-ID" => received.numbers.last }.compact)
      text = +""
      while !@over && client.socket.wait_readable(SILENCE_SECONDS)
        text << client.socket.readpartial(PIECE_BYTES)
        take(text, received)
      end
    rescue *HttpClient::GONE
      sleep PAUSE_SECONDS
    ensure
      client&.close
    end

    # Moves whole events from the text to the numbers.
    def take(text, received)
      while (event = text.slice!(/\A.*?id: \d+\n\n/m))
        received.numbers << event[/id: (\d+)\n\n\z/, 1].to_i
        received.silence = [received.silence, Bench.now - received.heard].max
        received.heard = Bench.now
      end
    end
  end
end
