# frozen_string_literal: true

module Bench
  # How figures are written in the tables.
  module Figure
    NONE = "-"

    # 151733.4 => "151 733"
    def self.count(number)
      number.round.to_s.reverse.scan(/\d{1,3}-?/).join(" ").reverse
    end

    # Bytes in MB of 2**20.
    def self.megabytes(bytes)
      format("%.1f", bytes / 1_048_576.0)
    end

    def self.decimals(number, places)
      format("%.#{places}f", number)
    end

    # "edge 2.1, worker 2x 9.4": the median Pss in MB of the processes of each role.
    def self.roles(bytes_by_role)
      bytes_by_role.map do |role, (number, bytes)|
        number == 1 ? "#{role} #{megabytes(bytes)}" : "#{role} #{number}x #{megabytes(bytes)}"
      end.join(", ")
    end
  end
end
