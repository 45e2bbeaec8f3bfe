# frozen_string_literal: true

require "rbconfig"
require_relative "failure"
require_relative "server"

module Bench
  # The process that holds idle connections to a server, seen from the benchmark.
  class IdleCrowd
    ANSWER_SECONDS = 180

    # Yields a crowd without connections, and ends its process.
    def self.near(port)
      crowd = new(port)
      yield crowd
    ensure
      crowd&.close
    end

    def initialize(port)
      @pipe = IO.popen([RbConfig.ruby, "-r", File.join(__dir__, "idle_clients.rb"), "-e",
                        "Bench::IdleClients.start(ARGV)", "--", port.to_s],
                       "r+", rlimit_nofile: Server.descriptors)
    end

    # Opens so many connections, each with one GET; gives how many were answered.
    def open(count)
      order("open #{count}").first
    end

    # [connections that are still open, probes that were answered again]
    def check
      order("check")
    end

    def close
      Process.kill(:KILL, @pipe.pid)
      @pipe.close
    end

    private

    def order(line)
      @pipe.puts(line)
      answer = @pipe.wait_readable(ANSWER_SECONDS) && @pipe.gets
      raise Failure, "idle clients: no answer to #{line.inspect} in #{ANSWER_SECONDS} s" unless answer

      answer.split.map { |figure| Integer(figure) }
    end
  end
end
