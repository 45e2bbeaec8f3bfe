# frozen_string_literal: true

require_relative "executable"
require_relative "failure"

module Bench
  # What wrk saw: answers and their bytes with heads, answers a second, latencies in milliseconds,
  # errors of every kind.
  Wrk = Struct.new(:requests, :bytes, :rate, :p50, :p99, :errors, keyword_init: true) do
    # Loads the URL for so many seconds; raises Failure when wrk does not run. script: a file beside this one that
    # prints the report.
    def self.run(url, seconds:, connections:, threads:, script: "report.lua", accept_encoding: nil)
      command = ["wrk", "-t", threads.to_s, "-c", connections.to_s, "-d", "#{seconds}s",
                 "-s", File.join(__dir__, script), url]
      command.insert(1, "-H", "Accept-Encoding: #{accept_encoding}") if accept_encoding
      output = IO.popen(command, err: %i[child out], &:read)
      raise Failure, "wrk failed:\n#{output}" unless Process.last_status.success?

      parse(output)
    end

    def self.parse(output)
      figures = output.scan(/\b(\w+)=(\d+)/).to_h.transform_values(&:to_i)
      requests, bytes, errors = figures.values_at("requests", "bytes", "errors")
      new(requests: requests, bytes: bytes, rate: requests * 1e6 / figures.fetch("duration"),
          p50: figures.fetch("p50") / 1e3, p99: figures.fetch("p99") / 1e3, errors: errors)
    end

    def self.obstacle
      Executable.obstacle("wrk", "apt install wrk")
    end
  end
end
