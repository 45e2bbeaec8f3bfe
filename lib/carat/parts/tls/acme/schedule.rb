# frozen_string_literal: true

module Carat
  module ACME
    # When the authority is asked next. `random` is from 0 to 1, so that servers do not ask all at once.
    module Schedule
      # After failures in a row: four attempts within the first hour, where Let's Encrypt allows five that fail for a
      # name and account in an hour.
      PAUSES = [60, 240, 960, 3600].freeze
      private_constant :PAUSES

      module_function

      # Returns the Time at which a third of the lifetime is left, or up to a thirtieth of it earlier.
      def renewal(issued, random: rand)
        issued.expires - (issued.lifetime / 3) - (random * issued.lifetime / 30)
      end

      # Returns the Time of the attempt after so many failures, not before the authority wants it.
      def attempt(failures, now: Time.now, retry_after: 0, random: rand)
        pause = PAUSES[failures - 1] || PAUSES.last
        now + [pause * (1 + (random / 4)), retry_after].max
      end
    end
  end
end
