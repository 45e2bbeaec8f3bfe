# frozen_string_literal: true

module Carat
  module Processes
    # The room for the garbage of so many requests that few of them meet a collection. It is needed where a minor one
    # marks for much longer than a request takes, and so long that a client notices: the heap is large, and requests are
    # short. Sweeping takes as long again, in many small parts.
    class RequestRoom
      # Room is added for so many requests where there is a collection for fewer than `FEW`: 99 % of the requests then
      # meet none. The difference is for objects that become old.
      REQUESTS = 125
      FEW = 105
      # Objects that have become old and fill one part of so many of the room are worth a full collection.
      OLD_PART = 8
      # The milliseconds that a minor collection marks for, on average, before requests count.
      MILLISECONDS = 1.5
      # The least that such a collection marks for, as a multiple of the CPU time of a request: a request that meets one
      # takes three times as long as others.
      TIMES = 2
      private_constant :REQUESTS, :FEW, :OLD_PART, :MILLISECONDS, :TIMES

      # `costs` is a CollectionCosts.
      def initialize(costs)
        @requests = costs.requests
        @demand = costs.demand
        @each = costs.marked_by_minor
        @between = @requests.fdiv(costs.collections)
        @own = costs.cpu - costs.taken
      end

      def needed?
        @requests.positive? && @between < FEW && @each > MILLISECONDS && @each > TIMES * @own / @requests
      end

      # Returns how many bytes each pool lacks, by the bytes of its slots; nothing where none lacks any. `free` is how
      # many slots of each pool are free after a collection, `empty` the bytes of pages that any pool may take.
      def lack(free, empty)
        lack = @demand.to_h do |slot_bytes, objects|
          [slot_bytes, [((objects * REQUESTS / @requests) - free.fetch(slot_bytes)) * slot_bytes, 0].max]
        end
        total = lack.values.sum
        total > empty ? lack.transform_values { |bytes| bytes * (total - empty) / total } : {}
      end

      # Whether so many objects that became old since the last full collection fill a noticeable part of that room. Some
      # of them may live: the next full collection tells.
      def eaten?(old)
        old * OLD_PART > @demand.values.sum * REQUESTS / @requests
      end
    end
  end
end
