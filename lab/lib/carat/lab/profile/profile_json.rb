# frozen_string_literal: true

require "carat/log/plain_json"

module Carat
  module Lab
    module Profile
      # A profile as the worker sends it.
      module ProfileJSON
        # Characters of a name or a path that are kept.
        TEXT_LIMIT = 300
        private_constant :TEXT_LIMIT

        # Returns a JSON object: `head` is a Hash, `functions` are Arrays, and `arrays` has JSON by name.
        def self.generate(head, functions, arrays)
          functions.each { |row| row.map! { |value| value.is_a?(String) ? value[0, TEXT_LIMIT] : value } }
          members = arrays.map { |name, json| "\"#{name}\":#{json}" }
          "#{Log::PlainJSON.generate({ **head, functions: }).chop},#{members.join(",")}}"
        end
      end
    end
  end
end
