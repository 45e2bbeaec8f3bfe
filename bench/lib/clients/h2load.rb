# frozen_string_literal: true

module Bench
  # Load by h2load(1), of nghttp2: HTTP/1.1 or HTTP/2, in clear or over TLS.
  class H2load
    # rate: responses a second; errors: requests without one of status 200.
    Report = Struct.new(:rate, :errors, keyword_init: true)

    # Connections that are opened to be held: below every server's backlog.
    OPENED_PER_SECOND = 500
    SPARE_SECONDS = 5
    private_constant :OPENED_PER_SECOND, :SPARE_SECONDS

    def self.obstacle = Executable.obstacle("h2load", "apt install nghttp2-client")

    def self.parse(output)
      rate = output[%r{finished in .*, ([\d.]+) req/s}, 1]
      good, *bad = output[/^status codes: (.*)/, 1].to_s.scan(/\d+(?= \dxx)/).map(&:to_i)
      raise Failure, "h2load failed:\n#{output}" unless rate && good.positive?

      Report.new(rate: rate.to_f, errors: bad.sum + output[/(\d+) failed/, 1].to_i)
    end

    # Opens `count` connections, each with one GET, yields, and sends one more on each. Returns the block's value, and
    # how many got 200 again.
    def self.hold(url, count, options, *arguments)
      idle_seconds = count.fdiv(OPENED_PER_SECOND) + options.settle + SPARE_SECONDS
      command = ["h2load", "-t", 1, "-r", OPENED_PER_SECOND, "-c", count, "-n", 2 * count, "--rps", 1 / idle_seconds,
                 *arguments, url]
      IO.popen(command.map(&:to_s), err: %i[child out], rlimit_nofile: Server.descriptors) do |pipe|
        raise Failure, "h2load failed" unless pipe.gets("100% of clients started")

        [yield, pipe.read[/(\d+) succeeded/, 1].to_i - count]
      end
    end

    # @param arguments [Array<String>] such as --h1 -c 32
    def initialize(url, options, *arguments)
      @command = ["h2load", "-t", "1", "--warm-up-time", "#{options.warmup}s", "-D", options.duration.to_s,
                  *arguments, url]
    end

    # Returns a Report; raises Failure when h2load does not run.
    def run = self.class.parse(IO.popen(@command, err: %i[child out], &:read))
  end
end
