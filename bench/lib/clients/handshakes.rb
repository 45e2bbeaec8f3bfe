# frozen_string_literal: true

module Bench
  # New TLS connections, one after the other in several programs at once, by openssl-s_time(1).
  class Handshakes
    PATTERN = /^(\d+) connections in (\d+) real seconds/

    def self.obstacle = Executable.obstacle("openssl", "apt install openssl")

    # Connections a second, from the outputs of the programs.
    def self.rate(outputs)
      outputs.sum do |output|
        connections, seconds = output.scan(PATTERN).last&.map(&:to_i)
        raise Failure, "openssl s_time failed:\n#{output}" unless connections

        connections.fdiv([seconds, 1].max)
      end
    end

    # Starts `clients` programs that connect for so many seconds. resumed: whether they show the session of the first
    # connection again; protocol: a flag of s_time.
    def initialize(port, clients:, seconds:, resumed: false, protocol: "-tls1_3")
      command = ["openssl", "s_time", "-connect", "127.0.0.1:#{port}", resumed ? "-reuse" : "-new", protocol,
                 "-time", seconds.to_s]
      @pipes = Array.new(clients) { IO.popen(command, err: %i[child out]) }
    end

    # Waits for the programs; returns how many connections they made a second, together.
    def rate
      outputs = @pipes.map { |pipe| Thread.new { pipe.read } }.map(&:value)
      @pipes.each(&:close)
      self.class.rate(outputs)
    end
  end
end
