# frozen_string_literal: true

module Carat
  module ACME
    # When the authority is asked next. `random` is from 0 to 1, so that servers do not ask all at once.
    module Schedule
      # The pauses after failures in a row: four attempts within the first hour, where Let's Encrypt allows a name and
      # account five failures an hour.
      PAUSES = [60, 240, 960, 3600].freeze
      private_constant :PAUSES

      module_function

      # Returns the Time at which a third of the lifetime is left, or up to a thirtieth of it earlier.
      def renewal(issued, random: rand)
        issued.expires - (issued.lifetime / 3) - (random * issued.lifetime / 30)
      end

      # Returns the Time of the next attempt after `failures`, not before the authority allows it.
      def attempt(failures, now: Time.now, retry_after: 0, random: rand)
        pause = PAUSES[failures - 1] || PAUSES.last
        now + [pause * (1 + (random / 4)), retry_after].max
      end
    end
  end
end
