# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Type
    # How far the heap of Ruby's garbage collector grows: as Carat wants it, as Ruby does, or by figures of one's own.
    class GcPolicy
      WORDS = %w[frugal ruby].freeze
      NAME = /\A[a-z]\w*\z/i
      EXAMPLES = 'such as "frugal", "ruby" or heap_growth_factor: 1.1'

      # Reads one of WORDS, or a Hash of numbers by the names of Ruby's variables, without RUBY_GC_ and in any case;
      # returns the word, or a Hash of text by the variables' names. Raises InvalidValue.
      def parse(value)
        return value.to_s if WORDS.include?(value.to_s)
        return value.to_h { |name, figure| variable(name, figure) } if value.is_a?(Hash) && value.any?

        raise InvalidValue, "#{value.inspect} is not a policy for the garbage collector, #{EXAMPLES}"
      end

      def text(value)
        value.is_a?(Hash) ? value.map { |name, figure| "#{name}=#{figure}" }.join(" ") : value
      end

      def metavar
        WORDS.join("|")
      end

      private

      def variable(name, figure)
        valid = NAME.match?(name.to_s) && (figure.is_a?(Integer) || figure.is_a?(Float)) && figure >= 0
        raise InvalidValue, "#{name}: #{figure.inspect} is not a figure for the garbage collector" unless valid

        ["RUBY_GC_#{name.to_s.upcase.delete_prefix("RUBY_GC_")}", figure.to_s]
      end
    end
  end
end
