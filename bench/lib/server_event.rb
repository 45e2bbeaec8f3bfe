# frozen_string_literal: true

require "json"
require "time"

module Bench
  # A line of Carat's log in JSON. at: Unix time; message; fields: the others by their names.
  ServerEvent = Struct.new(:at, :message, :fields) do
    # All lines of that kind in the text; what applications write there is left out.
    def self.parse(text)
      text.lines.filter_map do |line|
        fields = JSON.parse(line) if line.start_with?("{") && line.end_with?("}\n")
        new(Time.iso8601(fields.delete("time")).to_f, fields.delete("message"), fields) if fields&.key?("message")
      rescue JSON::ParserError
        nil
      end
    end

    def [](name)
      fields[name]
    end
  end
end
