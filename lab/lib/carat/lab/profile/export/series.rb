# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A number for each call of a CallTree: the member of the calls' weights, its name for pprof and its title for
      # readers, and its unit: `bytes`, `count`, or `microseconds`.
      Series = Struct.new(:member, :name, :title, :unit, :tree) do
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
