# frozen_string_literal: true

require_relative "../leak/in_worker/orders"

module Carat
  module Lab
    # Measurements of a block in the process of a test.
    module InTest
      # A block in place of a server: a request is a call, and this process is the one that is measured.
      class BlockCalls
        # `block` is a Proc without parameters.
        def initialize(block)
          @block = block
          @orders = Leak::Orders.new
        end

        # Calls the block.
        def request(_targets, count)
          count.times { @block.call }
        end

        # Returns the result of an order.
        def ask(order)
          @orders.carry_out(order)
        end
      end
    end
  end
end
