# frozen_string_literal: true

require "json"

module Bench
  # New TLS connections without pause, by bench/src/bin/handshakes.
  module Handshakes
    CLIENT = RustProgram.new("handshakes")

    # connections: that were complete, of which so many were resumed; failed: those that were not.
    Report = Struct.new(:connections, :resumed, :failed, :seconds, keyword_init: true) do
      # Connections a second.
      def rate = connections / seconds
    end

    def self.obstacle = CLIENT.obstacle

    # Connects on so many threads, and waits for the end. resumed: whether a client shows the ticket of its last
    # connection.
    def self.run(port, **options) = start(port, **options).finish

    # The same, of which `finish` waits for the end and returns the Report.
    def self.start(port, threads:, seconds:, resumed: false)
      CLIENT.start("127.0.0.1:#{port}", threads, seconds, resumed ? "resumed" : "full") do |text|
        Report.new(**JSON.parse(text, symbolize_names: true))
      end
    end
  end
end
