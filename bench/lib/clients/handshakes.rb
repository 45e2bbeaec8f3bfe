# frozen_string_literal: true

require "json"

module Bench
  # New TLS connections without pause, by bench/src/bin/handshakes.
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
      new(CLIENT.start("127.0.0.1:#{port}", threads, seconds, resumed ? "resumed" : "full"))
    end

    # running: see RustProgram#start.
    def initialize(running)
      @running = running
    end

    # Waits for the end and returns the Report.
    def finish = Report.parse(@running.call)
  end
end
