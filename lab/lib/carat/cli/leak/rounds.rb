# frozen_string_literal: true

module Carat
  module CLI
    class Leak
      # The measurements of a run as text, a row for each round.
      module Rounds
        MIB = 1024.0 * 1024
        COLUMNS = %w[requests live objects active resident PSS threads descriptors].freeze
        private_constant :MIB, :COLUMNS

        module_function

        # Returns the heading of a run.
        def title(run, number)
          "run #{number}: rounds of #{run.plan.requests} requests, sizes in MiB"
        end

        # Returns the names of the columns.
        def columns
          COLUMNS
        end

        # Returns an Array of Arrays of Strings.
        def rows(run)
          run.censuses.map do |census|
            [census.requests.to_s, mib(census.live), census.objects.to_s, mib(census.active), mib(census.resident),
             mib(census.pss), census.threads.to_s, census.descriptors.to_s]
          end
        end

        def mib(bytes)
          format("%.3f", bytes / MIB)
        end
        private_class_method :mib
      end
    end
  end
end
