# frozen_string_literal: true

module Carat
  module ACME
    # The times of orders. `random` is from 0 to 1, and keeps servers from sending their orders all at once.
    module Schedule
      # The pauses after failures in a row, in seconds. They allow four attempts within the first hour: Let's Encrypt
      # allows five failures an hour for a name and account.
      PAUSES = [60, 240, 960, 3600].freeze
      private_constant :PAUSES

      module_function

      # Returns the Time of the renewal: when a third of the lifetime is left, or up to a thirtieth of the lifetime
      # earlier.
      def renewal(issued, random: rand)
        issued.expires - (issued.lifetime / 3) - (random * issued.lifetime / 30)
      end

      # Returns the Time of the next attempt after `failures` failures in a row, not before the authority allows it.
      def attempt(failures, now: Time.now, retry_after: 0, random: rand)
        pause = PAUSES[failures - 1] || PAUSES.last
        now + [pause * (1 + (random / 4)), retry_after].max
      end
    end
  end
end
