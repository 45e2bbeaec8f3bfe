# frozen_string_literal: true

require "carat/log/counted"
require_relative "text"

module Carat
  module CLI
    class Profile
      # Formats a profile by clocks for readers; the measure is a clock.
      class TimeText < Text
        NOTHING = { cpu: "The worker has computed nothing: no sample.",
                    wall: "There is no sample: take a longer profile.",
                    gvl: "No thread has waited for the GVL long enough for a sample." }.freeze
        private_constant :NOTHING

        # Sentences about the profile.
        def summary
          details = @report.details
          samples = Log::Counted.of(details[:samples].to_h[@measure.to_s].to_i, "sample")
          [lead(details), "From #{samples}, one in #{details[:interval].to_i.fdiv(1000).round(1)} ms: an estimate.",
           *remarks(details)]
        end

        private

        def lead(details)
          period = "in #{details[:seconds]} s"
          case @measure
          when :cpu
            requests = details[:requests].to_i
            "#{weight(@root.inclusive)} of CPU #{period} and #{Log::Counted.of(requests, "request")}#{rate(requests)}"
          when :wall then "#{weight(@root.inclusive)} of all threads #{period}, whether they run or wait"
          when :gvl then "#{waits(*details.values_at(:waited_seconds, :ran_seconds).map(&:to_f))} #{period}"
          end
        end

        # For the GVL waits who could run but for it.
        def waits(waited, ran)
          share = waited.zero? ? 0 : 100 * waited / (waited + ran)
          format("%.1f %% of the time in which threads could run, they waited for the GVL: %.3f of %.3f s",
                 share, waited, waited + ran)
        end

        def remarks(details)
          lost = details[:lost].to_i
          { "The worker was replaced: this is what was seen until then." => details[:replaced],
            "Interrupted: this is what was seen until then." => details[:interrupted],
            "#{Log::Counted.of(lost, "further sample")} came while the others were not read yet." =>
              lost.positive? && @measure == :cpu,
            "The profile reached a limit: the rest is in (further calls)." => details[:truncated] }
            .select { |_, is_so| is_so }.keys
        end

        def weight(number)
          number < 1_000_000 ? "#{number.fdiv(1000).round(1)} ms" : "#{number.fdiv(1_000_000).round(2)} s"
        end

        def nothing
          NOTHING.fetch(@measure)
        end
      end
    end
  end
end
