# frozen_string_literal: true

require_relative "traffic"

module Carat
  module Lab
    module Load
      # What `carat load` has found, as a Hash for JSON: `schema` says which version of lab/docs/load.md describes it.
      class Report
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        # `traffic` and `usage` are nil when the load was interrupted before there were any; `unwatched` says why the
        # processes of the server are unknown, or is nil.
        def initialize(url:, plan:, generator:, traffic:, usage:, unwatched:, interrupted:)
          @url = url
          @plan = plan
          @generator = generator
          @traffic = traffic
          @usage = usage if traffic
          @unwatched = unwatched
          @interrupted = interrupted
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, "interrupted" => @interrupted, "url" => @url, "path" => @plan.path,
            "connections" => @plan.connections,
            "generator" => { "name" => @generator.name, "version" => @generator.version,
                             "corrects" => @generator.corrects? },
            **traffic, "unwatched" => @unwatched, "cpu" => cpu, "pss" => pss, "timeline" => timeline }
        end

        private

        def traffic
          names = %w[seconds requests failed errors requests_per_second latency]
          return names.to_h { |name| [name, nil] } unless @traffic

          values = [@traffic.seconds, @traffic.requests, @traffic.failed, @traffic.errors, @traffic.rate.round(1),
                    @traffic.latency]
          names.zip(values).to_h
        end

        def cpu
          return unless @usage

          seconds = @usage.cpu_seconds
          answered = @traffic.requests
          { "seconds" => seconds.round(6), "cores" => (seconds / @traffic.seconds).round(3),
            "seconds_per_request" => ((seconds / answered).round(9) if answered.positive?) }
        end

        def pss
          values = @usage&.pss or return

          { "before" => values.first, "after" => values.last, "peak" => values.max }
        end

        def timeline
          return [] unless @usage

          first = @usage.points.first
          @usage.points.map do |point|
            { "seconds" => point.seconds.round(2), "pss" => point.pss,
              "cpu_seconds" => (point.cpu_seconds - first.cpu_seconds).round(6), "processes" => point.processes }
          end
        end
      end
    end
  end
end
