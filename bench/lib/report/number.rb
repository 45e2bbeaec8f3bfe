# frozen_string_literal: true

module Bench
  # How tables write numbers.
  module Number
    NONE = "-"

    # 151733.4 => "151 733"
    def self.count(number) = number.round.to_s.reverse.scan(/\d{1,3}-?/).join(" ").reverse

    def self.decimals(number, places) = format("%.#{places}f", number)

    # Bytes in MB of 2**20 bytes.
    def self.mb(bytes) = bytes.fdiv(1 << 20)
  end
end
