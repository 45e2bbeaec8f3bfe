# frozen_string_literal: true

module Bench
  # Load by h2load(1), of nghttp2: HTTP/1.1 or HTTP/2, in clear or over TLS.
  class H2load
    # rate: responses a second; errors: requests without one of status 200.
    Report = Struct.new(:rate, :errors, keyword_init: true)

    def self.obstacle = Executable.obstacle("h2load", "apt install nghttp2-client")

    def self.parse(output)
      rate = output[%r{finished in .*, ([\d.]+) req/s}, 1]
      good, *bad = output[/^status codes: (.*)/, 1].to_s.scan(/\d+(?= \dxx)/).map(&:to_i)
      raise Failure, "h2load failed:\n#{output}" unless rate && good.positive?

      Report.new(rate: rate.to_f, errors: bad.sum + output[/(\d+) failed/, 1].to_i)
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
