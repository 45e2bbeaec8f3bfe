# frozen_string_literal: true

require "fileutils"

module Support
  # A program that takes the place of oha: some requests, at once, and a report with fixed latencies.
  module QuickGenerator
    PROGRAM = <<~'RUBY'
      #!/usr/bin/env -S ruby --disable-gems
      require "socket"
      exit(puts("oha 0.0.1")) if ARGV == ["--version"]
      exit(puts("--output-format")) if ARGV == ["--help"]
      host, port, path = ARGV.last.match(%r{\Ahttp://([^:/]+):(\d+)(/.*)\z}).captures
      statuses = Array.new(64) do
        TCPSocket.open(host, port) do |socket|
          socket.write("GET #{path} HTTP/1.1\r\nHost: #{host}\r\nConnection: close\r\n\r\n")
          socket.read[/\d{3}/]
        end
      end
      latencies = %w[p50 p75 p90 p99 p99.9].map { |name| "\"#{name}\": 0.001" }.join(", ")
      counts = statuses.tally.map { |status, count| "\"#{status}\": #{count}" }.join(", ")
      puts "{\"summary\": {\"total\": 0.5, \"slowest\": 0.002}, \"latencyPercentiles\": {#{latencies}}, " \
           "\"statusCodeDistribution\": {#{counts}}, \"errorDistribution\": {}}"
    RUBY

    module_function

    # Writes the program to a directory, and returns environment variables with which it is found first.
    def install(directory)
      FileUtils.mkdir_p(directory)
      path = File.join(directory, "oha")
      File.write(path, PROGRAM)
      File.chmod(0o755, path)
      { "PATH" => "#{directory}:#{ENV.fetch("PATH")}" }
    end
  end
end
