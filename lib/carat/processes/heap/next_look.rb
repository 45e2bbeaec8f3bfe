# frozen_string_literal: true

module Carat
  module Processes
    # When to look next whether Ruby needs a full collection for want of slots: after the next collection where a pool
    # is tight, or else when objects have become old that fill half of what is to spare. A look costs a complete sweep,
    # for which a request waits.
    class NextLook
      # `ruby` is a RubyMarks that has just swept.
      def initialize(ruby)
        @ruby = ruby
        @spare = ruby.spare
        @old = ruby.old_objects + (@spare / 2)
      end

      # Whether a pool may lack slots after the next collection.
      def tight?
        @spare <= 0
      end

      # Whether a look would find nothing.
      def early?
        @ruby.old_objects < @old && @ruby.need.nil?
      end
    end
  end
end
