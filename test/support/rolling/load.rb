# frozen_string_literal: true

require "support/raw_client"

module Support
  module Rolling
    # Clients that ask without a pause: some on new connections, some on open ones, some with a body.
    class Load
      BODY = "x" * 100_000

      # @return [Array<Integer, String>] the status of each response, or what came in its place
      attr_reader :results

      # The block returns a RawClient with a new connection.
      def initialize(&connect)
        @connect = connect
        @results = []
        @clients = %i[get get keep keep post].map { |kind| Thread.new { send(kind) until @done } }
      end

      # Ends when all clients have their last response.
      def stop
        @done = true
        @clients.each(&:value)
      end

      private

      def get
        once { |client| client.request("GET", fields: { "Connection" => "close" }) }
      end

      def post
        once { |client| client.request("POST", fields: { "Connection" => "close" }, body: BODY) }
      end

      def keep
        @kept ||= {}
        client = @kept[Thread.current] ||= connect
        response = client.get
        @kept.delete(Thread.current) if response["connection"] == "close"
        @results << response.status
      rescue EOFError, SystemCallError => e
        @kept.delete(Thread.current)
        @results << e.inspect
      end

      def once
        client = connect
        yield client
        @results << client.read_response.status
      rescue EOFError, SystemCallError => e
        @results << e.inspect
      ensure
        client&.close
      end

      def connect
        @connect.call
      end
    end
  end
end
