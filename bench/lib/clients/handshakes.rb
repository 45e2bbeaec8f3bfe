# frozen_string_literal: true

require "json"

module Bench
  # New TLS connections without pause, by bench/handshakes.
  class Handshakes
    CLIENT = RustProgram.new("handshakes")

    # connections: that were complete, of which so many were resumed; failed: those that were not.
    Report = Struct.new(:connections, :resumed, :failed, :seconds, keyword_init: true) do
      def self.parse(text) = new(**JSON.parse(text, symbolize_names: true))

      # Connections a second.
      def rate = connections / seconds
    end

    def self.obstacle = CLIENT.obstacle

    # Connects on so many threads, and waits for the end. resumed: whether a client shows the ticket of its last
    # connection.
    def self.run(port, **options) = start(port, **options).finish

    def self.start(port, threads:, seconds:, resumed: false)
      raise Failure, obstacle if obstacle

      new("127.0.0.1:#{port}", threads.to_s, seconds.to_s, resumed ? "resumed" : "full")
    end

    def initialize(*words)
      @pipe = IO.popen([CLIENT.path, *words])
    end

    # Waits for the end and returns the Report.
    def finish
      output = @pipe.read
      @pipe.close
      raise Failure, "handshakes failed" unless Process.last_status.success?

      Report.parse(output)
    end
  end
end
