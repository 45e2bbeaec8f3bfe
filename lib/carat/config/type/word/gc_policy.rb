# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "gc_variable"

module Carat
  module Config
    module Type
      # How far the heap of Ruby's garbage collector grows: Carat's policy, Ruby's, or the user's own numbers.
      class GcPolicy
        WORDS = %w[frugal ruby].freeze
        EXAMPLES = 'such as "frugal", "ruby" or heap_growth_factor: 1.1'
        private_constant :EXAMPLES, :WORDS

        # Reads one of WORDS, or a Hash of numbers by the names of Ruby's variables as GcVariable reads them;
        # returns the word, or a Hash of text by the variables' names. Raises InvalidValue.
        def parse(value)
          return value.to_s if WORDS.include?(value.to_s)
          return value.to_h { |name, figure| GcVariable.parse(name, figure) } if value.is_a?(Hash) && value.any?

          raise InvalidValue, "#{value.inspect} is not a policy for the garbage collector, #{EXAMPLES}"
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          value.is_a?(Hash) ? value.map { |name, figure| "#{name}=#{figure}" }.join(" ") : value
        end

        # Returns the placeholder for a value in the help.
        def metavar
          WORDS.join("|")
        end
      end
    end
  end
end
