# frozen_string_literal: true

module Support
  module Chaos
    # A client in the room of CableServer, in a thread. It sends its messages in frames and pieces of any size, and
    # notes what it hears.
    class Member
      CONTINUATION = 0

      # Texts, in their order.
      attr_reader :sent, :heard

      # @param socket [WebSocketClient] one that has subscribed
      # @param members [Integer] how many there are; each says when it has finished
      # @yield the frame of a message to the room
      def initialize(socket, name, random, members:, &message)
        @socket = socket
        @name = name
        @random = random
        @members = members
        @message = message
        @sent = []
        @heard = []
        @ends = 0
        @finished = false
        @thread = Thread.new { run }
      end

      # From now on it says its last text.
      def finish
        @finished = true
      end

      # Returns when it has heard the last text of each.
      def join
        @thread.value
      end

      private

      def run
        tell(@sent.size) until @finished
        tell("end")
        hear until @ends == @members
      ensure
        @socket.close
      end

      # A command whose worker has died brings nothing. The next ping ends the wait for it.
      def tell(number)
        @sent << text = "#{@name}-#{number}"
        send_pieces(frames(@message.call(text)))
        nil until [text, nil].include?(hear)
      end

      # Returns the text, nil for a ping.
      def hear
        object = JSON.parse(@socket.read_text || raise("the socket of #{@name} was closed"))
        return if object["type"] == "ping"

        @heard << text = object.dig("message", "text")
        @ends += 1 if text.end_with?("-end")
        text
      end

      # One message in up to three frames, with a ping between them.
      def frames(message)
        cuts = [0, *Array.new(@random.rand(3)) { @random.rand(message.bytesize) }.sort, message.bytesize]
        frames = cuts.each_cons(2).map.with_index do |(from, to), index|
          kind = index.zero? ? WebSocketClient::TEXT : CONTINUATION
          @socket.frame(kind, message.byteslice(from...to), last: to == message.bytesize)
        end
        frames.join(@socket.frame(WebSocketClient::PING, "between"))
      end

      # Other clients have their turn in between.
      def send_pieces(bytes)
        cut = @random.rand(bytes.bytesize)
        @socket.write(bytes.byteslice(0, cut))
        Thread.pass
        @socket.write(bytes.byteslice(cut..))
      end
    end
  end
end
