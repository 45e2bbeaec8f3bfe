# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "whole_number"

module Carat
  module Config
    module Type
      # The share of the requests that new code gets at first, and who decides about it.
      class CanaryShare
        JUDGE = "judge"
        FORM = 'such as 10, or 10, judge: true, or "10,judge" outside of the config file'
        private_constant :FORM, :JUDGE

        # `within` is a Range of percentages.
        def initialize(within)
          @percent = WholeNumber.new(within)
        end

        # Reads a percentage, the Array of one and a Hash with `judge:`, or text such as "10" and "10,judge"; returns a
        # Hash. Raises InvalidValue.
        def parse(value)
          value = value.first if value.is_a?(Array) && value.one?
          percent, settings, *rest = value.is_a?(String) ? words(value) : value
          settings = {} if settings.nil?
          judge = settings.is_a?(Hash) && settings.fetch(:judge, false)
          known = settings.is_a?(Hash) && (settings.keys - [:judge]).empty? && [true, false].include?(judge)
          raise InvalidValue, "takes a percentage and judge:, #{FORM}" unless known && rest.empty?

          { percent: @percent.parse(percent), judge: }
        end

        # Returns `value`, as #parse returned it, in the form that readers see.
        def text(value)
          [value[:percent], *(JUDGE if value[:judge])].join(",")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "N[,#{JUDGE}]"
        end

        private

        def words(text)
          percent, *flags = text.split(",").map(&:strip)
          flags == [JUDGE] ? [percent, { judge: true }] : [percent, *flags]
        end
      end
    end
  end
end
