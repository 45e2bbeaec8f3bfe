# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # Targets of requests, such as `/login?next=%2F`; none at all is possible.
      class TargetList
        PATTERN = %r{\A/[!-~]*\z}

        # Reads one target or an Array of them and returns an Array of Strings; raises InvalidValue.
        def parse(value)
          Array(value).map do |target|
            raise InvalidValue, "#{target.inspect} is not a path such as /login" unless PATTERN.match?(target.to_s)

            target.to_s
          end
        end

        def text(value)
          value.empty? ? "none" : value.join(", ")
        end

        def metavar
          "PATH"
        end
      end
    end
  end
end
