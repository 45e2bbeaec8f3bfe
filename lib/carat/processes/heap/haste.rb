# frozen_string_literal: true

module Carat
  module Processes
    # Why a full collection ran within a request, and did not wait for an order of the edge.
    module Haste
      module_function

      # The reason, a Symbol whose name Rust's HasteReason knows. `state` is that of the FullMarks, `asked` whether code
      # has asked for the collection, and `small` whether the heap is. Where Carat forbids full collections, only the
      # application can allow one.
      def of(state, asked:, small:)
        return :application if asked

        case state
        when :left then :unmanaged
        when :given_up then :bound
        when :declined then :busy
        when :allowed then small ? :small_heap : :sudden
        else :application
        end
      end
    end
  end
end
