# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # A function in a tree, with what it and everything below it weighs.
      class Branch
        # The Frame; nil at the root.
        attr_reader :frame

        # What the function allocated itself, and what everything below it allocated as well.
        attr_reader :own, :inclusive

        # Returns the root of the tree from the outermost functions to the innermost. `tree` is a CallTree, `measure` a
        # member of its Weights.
        def self.outward(tree, measure)
          root = new(nil)
          branches = []
          tree.calls.each do |call|
            above = call.caller ? branches[call.caller] : root
            branches << above.child(tree.frames[call.frame])
            branches.last.own_weight(call.weight[measure])
          end
          root.tap(&:sum)
        end

        # Returns the root of the tree from the functions that allocate to those that call them.
        def self.inverted(tree, measure)
          root = new(nil)
          tree.calls.each do |call|
            weight = call.weight[measure]
            next unless weight.positive?

            branch = root
            while call
              branch = branch.child(tree.frames[call.frame])
              call = call.caller && tree.calls[call.caller]
            end
            branch.own_weight(weight)
          end
          root.tap(&:sum)
        end

        def initialize(frame)
          @frame = frame
          @own = @inclusive = 0
          @children = {}
        end

        # Returns the branch of a function below this one.
        def child(frame)
          @children[frame] ||= Branch.new(frame)
        end

        # Adds to what the function allocated itself.
        def own_weight(weight)
          @own += weight
        end

        # Returns the branches below, the heaviest first.
        def children
          @children.values.sort_by { |child| -child.inclusive }
        end

        # Adds up what is below each branch: from the innermost, without recursion, as stacks may be deep.
        def sum
          order = [self]
          order.each { |branch| order.concat(branch.below) }
          order.reverse_each { |branch| branch.add_up }
        end

        # The branches below, in any order.
        def below
          @children.values
        end

        # Adds up those directly below.
        def add_up
          @inclusive = @own + below.sum(&:inclusive)
        end
      end
    end
  end
end
