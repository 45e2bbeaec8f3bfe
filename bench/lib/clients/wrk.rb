# frozen_string_literal: true

module Bench
  # Load by wrk(1).
  class Wrk
    # bytes with headers; rate: responses a second; errors of every kind; cpu: seconds of the server's processes.
    Report = Struct.new(:requests, :bytes, :rate, :p50_ms, :p99_ms, :errors, :cpu, keyword_init: true) do
      # CPU seconds a request.
      def cost = cpu / requests
    end

    def self.obstacle = Executable.obstacle("wrk", "apt install wrk")

    def self.parse(output)
      fields = output.scan(/\b(\w+)=(\d+)/).to_h.transform_values(&:to_i)
      requests, bytes, errors = fields.values_at("requests", "bytes", "errors")
      Report.new(requests: requests, bytes: bytes, errors: errors, rate: requests * 1e6 / fields.fetch("duration"),
                 p50_ms: fields.fetch("p50") / 1e3, p99_ms: fields.fetch("p99") / 1e3)
    end

    # script: a file of this folder that prints the report; url: scheme, host, and port; patience: seconds until a
    # request without a response is an error, or nil for wrk's 2.
    def initialize(server, options, path: "/", connections: options.connections, script: "report.lua", headers: {},
                   url: "http://127.0.0.1:#{server.port}", patience: nil)
      @server = server
      @options = options
      @command = ["wrk", *headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] },
                  *(["--timeout", "#{patience}s"] if patience),
                  "-t", options.wrk_threads.to_s, "-c", connections.to_s, "-s", File.join(__dir__, script),
                  "#{url}#{path}"]
    end

    # Load that is not measured.
    def warm_up
      run(@options.warmup) if @options.warmup.positive?
      self
    end

    # Returns a Report; raises Failure when wrk does not run.
    def run(seconds = @options.duration)
      before = @server.tree_cpu
      output = IO.popen([*@command, "-d", "#{seconds}s"], err: %i[child out], &:read)
      raise Failure, "wrk failed:\n#{output}" unless Process.last_status.success?

      self.class.parse(output).tap { |report| report.cpu = @server.tree_cpu - before }
    end
  end
end
