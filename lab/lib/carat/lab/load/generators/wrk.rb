# frozen_string_literal: true

require "etc"
require_relative "../traffic"

module Carat
  module Lab
    module Load
      # How wrk(1) is called, and what it reports.
      module Wrk
        # The program.
        NAME = "wrk"

        # Whether latencies count requests that a slow response kept from being sent (coordinated omission).
        CORRECTS = true
        SCRIPT = File.expand_path("wrk.lua", __dir__)

        # Its default of 2 s would count slow responses as errors.
        TIMEOUT = "60s"
        KINDS = %w[connect read write timeout status].freeze
        private_constant :SCRIPT, :TIMEOUT, :KINDS

        module_function

        # Returns the words that print the version.
        def version_command(program)
          [program, "-v"]
        end

        # Returns the words of a load for so many whole seconds.
        def command(program, url, seconds:, connections:)
          [program, "-t", threads(connections).to_s, "-c", connections.to_s, "-d", "#{seconds}s",
           "--timeout", TIMEOUT, "-s", SCRIPT, url]
        end

        # Returns the Traffic of its output, or nil.
        def parse(output)
          fields = output[/^carat (.*)$/, 1]&.scan(/(\S+)=(\d+)/)&.to_h { |name, text| [name, Integer(text, 10)] }
          return unless fields

          errors = fields.slice(*KINDS).reject { |_, count| count.zero? }
          answered = fields.fetch("requests")
          latency = [*Traffic::PERCENTILES.keys, "max"].to_h do |name|
            [name, answered.zero? ? nil : fields.fetch(name) / 1e6]
          end
          Traffic.new(requests: answered - fields.fetch("status"), failed: errors.values.sum, errors:, latency:,
                      seconds: fields.fetch("duration") / 1e6)
        end

        # wrk gives each thread the same number of connections and drops the rest; half of the cores are for the server.
        def threads(connections)
          [Etc.nprocessors / 2, 1].max.downto(1).find { |count| (connections % count).zero? }
        end
        private_class_method :threads
      end
    end
  end
end
