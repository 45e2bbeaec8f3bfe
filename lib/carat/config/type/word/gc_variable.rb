# frozen_string_literal: true

require_relative "../../config_error"
require_relative "../../sources/spelling"

module Carat
  module Config
    module Type
      # The variables of Ruby's garbage collector (3.1 to 4.1) and their limits (gc.c). They are checked here because
      # Ruby itself ignores unknown variables and wrong values, or at most warns with -w.
      module GcVariable
        PREFIX = "RUBY_GC_"
        # The limits of a number of slots or bytes.
        COUNT = (0..(1 << 50))
        FACTOR = (1.0.next_float..100.0)
        SHARE = (Float::MIN..1.0)
        SHARE_OR_NONE = (0.0..1.0)
        MULTIPLE = (0.0..100.0)
        WORDS = {
          COUNT => "a whole number", FACTOR => "a number above 1 and up to 100",
          SHARE => "a number above 0 and up to 1",
          SHARE_OR_NONE => "a number from 0 to 1", MULTIPLE => "a number from 0 to 100"
        }.freeze
        FIGURES = {
          "HEAP_INIT_SLOTS" => COUNT, "HEAP_FREE_SLOTS" => COUNT,
          "HEAP_GROWTH_FACTOR" => FACTOR, "HEAP_GROWTH_MAX_SLOTS" => COUNT,
          "HEAP_FREE_SLOTS_MIN_RATIO" => SHARE, "HEAP_FREE_SLOTS_MAX_RATIO" => SHARE,
          "HEAP_FREE_SLOTS_GOAL_RATIO" => SHARE_OR_NONE, # 0: the heap grows by the factor
          "HEAP_OLDOBJECT_LIMIT_FACTOR" => MULTIPLE,
          "HEAP_REMEMBERED_WB_UNPROTECTED_OBJECTS_LIMIT_RATIO" => MULTIPLE, # since 3.3
          "MALLOC_LIMIT" => COUNT, "MALLOC_LIMIT_MAX" => COUNT, "MALLOC_LIMIT_GROWTH_FACTOR" => FACTOR,
          "OLDMALLOC_LIMIT" => COUNT, "OLDMALLOC_LIMIT_MAX" => COUNT, "OLDMALLOC_LIMIT_GROWTH_FACTOR" => FACTOR,
          "HEAP_INIT_BYTES" => COUNT, "HEAP_GROWTH_MAX_BYTES" => COUNT, # since 4.1, in place of slots
          **(0..4).to_h { |size| ["HEAP_#{size}_INIT_SLOTS", COUNT] } # since 3.3, in place of HEAP_INIT_SLOTS
        }.freeze
        private_constant :PREFIX, :COUNT, :FACTOR, :SHARE, :SHARE_OR_NONE, :MULTIPLE, :WORDS, :FIGURES

        module_function

        # Returns the name of the variable and its text. `name` may have the prefix or not, in any case of letters.
        # Raises InvalidValue.
        def parse(name, figure)
          short = name.to_s.upcase.delete_prefix(PREFIX)
          range = FIGURES.fetch(short) { refuse_name(name, short) }
          return [PREFIX + short, figure.to_s] if number?(figure, range) && range.cover?(figure)

          raise InvalidValue, "#{name}: #{figure.inspect} is not #{WORDS.fetch(range)}"
        end

        def number?(figure, range)
          figure.is_a?(Integer) || (figure.is_a?(Float) && !figure.nan? && range.begin.is_a?(Float))
        end

        def refuse_name(name, short)
          hint = Spelling.hint(short.downcase, FIGURES.keys.map(&:downcase))
          raise InvalidValue, "#{name}: Ruby's garbage collector has no such variable#{hint}"
        end

        private_class_method :number?, :refuse_name
      end
    end
  end
end
