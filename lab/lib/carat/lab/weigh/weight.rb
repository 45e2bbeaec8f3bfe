# frozen_string_literal: true

module Carat
  module Lab
    module Weigh
      # Live memory and the time of the boot: bytes of malloc and of heap slots, objects, Strings among them, seconds.
      Weight = Struct.new(:malloc, :slots, :objects, :strings, :seconds) do
        # Returns the sum of two.
        def +(other)
          self.class.new(*to_a.zip(other.to_a).map(&:sum))
        end

        # Live bytes.
        def bytes
          malloc + slots
        end

        # Returns a Hash for JSON.
        def report
          { "bytes" => bytes, **to_h.transform_keys(&:to_s) }
        end
      end

      # What weighs nothing.
      Weight::ZERO = Weight.new(0, 0, 0, 0, 0.0).freeze
    end
  end
end
