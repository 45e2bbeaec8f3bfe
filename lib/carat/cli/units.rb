# frozen_string_literal: true

module Carat
  module CLI
    # Formats amounts for readers, in a unit in which the number is short.
    module Units
      KIB = 1024
      SIZES = %w[B KiB MiB GiB TiB].freeze
      private_constant :KIB, :SIZES

      module_function

      # Returns a String such as `1.5 GiB`.
      def bytes(number)
        exponent = Math.log(number.clamp(1..), KIB).floor.clamp(0, SIZES.size - 1)
        "#{(number / (KIB**exponent).to_f).round(1).to_s.delete_suffix(".0")} #{SIZES[exponent]}"
      end

      # Returns a number of bytes in MiB without the unit, such as `1.5`; nil for nil.
      def mib(bytes)
        format("%.1f", bytes / (KIB**2).to_f) if bytes
      end

      # Returns a String such as `5 min`.
      def seconds(number)
        case number
        when 0...120 then "#{number.round} s"
        when 120...7200 then "#{(number / 60).round} min"
        when 7200...172_800 then "#{(number / 3600).round} h"
        else "#{(number / 86_400).round} d"
        end
      end
    end
  end
end
