# frozen_string_literal: true

module Carat
  module CLI
    # Formats numbers of seconds for readers.
    module Seconds
      module_function

      # Returns a String such as `5 min`, in the unit that suits the number.
      def words(number)
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
