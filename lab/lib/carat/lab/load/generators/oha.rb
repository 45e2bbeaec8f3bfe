# frozen_string_literal: true

require "json"
require "open3"
require_relative "../traffic"

module Carat
  module Lab
    module Load
      # How oha is called, and what it reports.
      module Oha
        # The program.
        NAME = "oha"

        # Latencies are those of the requests that were sent.
        CORRECTS = false

        # Requests that were under way at the end are not errors of the server.
        CUT_OFF = "aborted due to deadline"
        private_constant :CUT_OFF

        module_function

        # Returns the words that print the version.
        def version_command(program)
          [program, "--version"]
        end

        # Returns the words of a load for so many seconds. Like wrk, oha then follows no redirects and verifies no
        # certificate.
        def command(program, url, seconds:, connections:)
          [program, "--no-tui", *json_flags(program), "--redirect", "0", "--insecure",
           "-z", "#{seconds}s", "-c", connections.to_s, url]
        end

        # Returns the Traffic of its output, or nil.
        def parse(output)
          report = JSON.parse(output[/^\{.*\z/m].to_s)
          statuses = report.fetch("statusCodeDistribution").to_h { |text, count| [Integer(text, 10), count] }
          refused = statuses.sum { |status, count| status >= 400 ? count : 0 }
          errors = { **report.fetch("errorDistribution").reject { |kind, _| kind == CUT_OFF }, "status" => refused }
          errors.reject! { |_, count| count.zero? }
          Traffic.new(requests: statuses.values.sum - refused, failed: errors.values.sum, errors:,
                      seconds: report.fetch("summary").fetch("total"), latency: latency(report))
        rescue JSON::ParserError, KeyError
          nil
        end

        # The name of the flag has changed with version 1.9.
        def json_flags(program)
          help, = Open3.capture2e(program, "--help")
          help.include?("--output-format") ? %w[--output-format json] : %w[--json]
        end

        # A percentile is null when no request was answered.
        def latency(report)
          found = report.fetch("latencyPercentiles")
          { **Traffic::PERCENTILES.keys.to_h { |name| [name, found[name]] },
            "max" => report.fetch("summary")["slowest"] }
        end
        private_class_method :json_flags, :latency
      end
    end
  end
end
