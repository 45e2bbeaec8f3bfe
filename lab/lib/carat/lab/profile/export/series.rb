# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A number for each call of a CallTree: a name and a unit (`bytes`, `count`, or `microseconds`), and the member of the
      # calls' weights.
      Series = Struct.new(:name, :unit, :tree, :member) do
        # Yields each call that has a number of its own, with that number.
        def each_weight
          tree.calls.each do |call|
            number = call.weight[member]
            yield call, number if number.positive?
          end
        end

        # Returns the numbers of the frames of a call, from the outermost.
        def stack(call)
          frames = []
          while call
            frames << call.frame
            call = call.caller && tree.calls[call.caller]
          end
          frames.reverse
        end
      end
    end
  end
end
