# frozen_string_literal: true

module Carat
  module CLI
    # Formats numbers of bytes for readers.
    module Bytes
      KIB = 1024
      UNITS = %w[B KiB MiB GiB TiB].freeze
      private_constant :KIB, :UNITS

      module_function

      # Returns a String such as `1.5 GiB`.
      def words(number)
        exponent = Math.log(number.clamp(1..), KIB).floor.clamp(0, UNITS.size - 1)
        "#{(number / (KIB**exponent).to_f).round(1).to_s.delete_suffix(".0")} #{UNITS[exponent]}"
      end
    end
  end
end
