# frozen_string_literal: true

module Carat
  module Lab
    module Compare
      # What ends a comparison whose intervals stay wide: `seconds` for all rounds, and `rounds` or nil.
      Limit = Struct.new(:seconds, :rounds) do
        # Whether another round like the ones so far would be too many.
        def reached?(done, passed)
          done == rounds || passed + (passed / done) > seconds
        end

        # Returns the share, from 0 to 1, that is done.
        def share(done, passed)
          [passed / seconds, rounds ? done.fdiv(rounds) : 0.0].max.clamp(0.0, 1.0)
        end
      end
    end
  end
end
