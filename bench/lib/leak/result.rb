# frozen_string_literal: true

module Bench
  # What one run of `carat leak` has found: its parsed report, which is empty if it failed, the verdict that is right,
  # the line that leaks or nil, and how long the run took.
  LeakResult = Struct.new(:report, :expected, :line, :seconds) do
    # Returns the row of a table. `planted` is a number of bytes, nil for an application whose slope nobody knows.
    def self.row(name, results, planted:)
      found = results.reject { |result| result.report.empty? }
      cells = [name, count(results, &:right?), planted && format("%.1f", planted), extremes(found.map(&:slope)),
               extremes(found.flat_map(&:interval)), (count(results, &:named?) if results.first.line),
               results.map(&:seconds).max.round]
      "| #{cells.join(" | ")} |"
    end

    def self.extremes(numbers)
      # Adding 0 makes a negative zero positive.
      numbers.minmax.compact.map { |number| format("%.1f", number.round(1) + 0) }.uniq.join(" to ")
    end

    def self.count(results, &)
      "#{results.count(&)} of #{results.size}"
    end
    private_class_method :extremes, :count

    def right?
      report["verdict"] == expected
    end

    # Whether the line is among the first three places.
    def named?
      report.fetch("sites", []).first(3).any? { |site| site["line"] == line }
    end

    def slope
      report.fetch("bytes_per_request")
    end

    def interval
      report.fetch("interval")
    end

    def to_s
      values = report.values_at("verdict", "bytes_per_request", "interval", "contradicted")
      "#{"WRONG " unless right?}#{values.inspect}#{" line not named" if line && !named?}, #{seconds.round} s"
    end
  end
end
