# frozen_string_literal: true

require "date"
require "set"
require_relative "../cable"

module Carat
  module Cable
    # Converts values to JSON and back. A value that JSON has stays as it is. Any other becomes a Hash with one member,
    # whose name says of which kind the value is. Database records become their GlobalID.
    module Values
      # How deeply Arrays and Hashes may be nested.
      DEPTH_LIMIT = 32

      # The JSON form of each class, by the class's name: the name of the member, and a Proc that returns its value.
      FORMS = {
        "Symbol" => ["s", ->(value) { value.name }],
        "Date" => ["d", ->(value) { value.iso8601 }],
        "DateTime" => ["dt", ->(value) { value.iso8601(9) }],
        "Time" => ["t", ->(value) { [value.to_i, value.nsec, value.utc? ? "UTC" : value.utc_offset] }],
        "ActiveSupport::TimeWithZone" => ["z", ->(value) { [value.to_i, value.nsec, value.time_zone.name] }],
        "BigDecimal" => ["n", ->(value) { value.to_s }],
        "Rational" => ["r", ->(value) { value.to_s }]
      }.freeze
      private_constant :FORMS

      module_function

      # Returns the form of `value` for JSON. Raises Error, whose message is the end of a sentence, when there is no
      # form for it.
      def dump(value, depth = DEPTH_LIMIT)
        raise Error, "holds more than #{DEPTH_LIMIT} levels" if depth.zero?

        case kind = value.class.to_s
        when "NilClass", "TrueClass", "FalseClass", "Integer" then value
        when "Float" then value.finite? ? value : { "f" => value.to_s }
        when "String" then string(value)
        when "Array" then members(value, depth)
        when "Set" then { "e" => members(value, depth) }
        when "Hash" then { "h" => members(value, depth) }
        when "ActiveSupport::HashWithIndifferentAccess" then { "i" => members(value, depth) }
        else object(value, kind)
        end
      end

      # Returns the value that `dump` has converted. Raises what the model raises when a database record is gone.
      def load(value)
        case value
        when Array then value.map { |member| load(member) }
        when Hash then restore(*value.first)
        else value
        end
      end

      def object(value, kind)
        tag, encode = FORMS[kind]
        return { tag => encode.call(value) } if tag
        return { "g" => global_id(value) } if value.respond_to?(:to_global_id)

        raise Error, "holds #{kind.match?(/\A[AEIOU]/) ? "an" : "a"} #{kind}"
      end

      # Converts the members of an Array, Set or Hash. A Hash becomes a list of pairs, because its keys may be of any
      # class.
      def members(value, depth)
        value.map { |member| dump(member, depth - 1) }
      end

      def string(value)
        is_plain = value.encoding == Encoding::UTF_8 ? value.valid_encoding? : value.encoding == Encoding::US_ASCII
        is_plain ? value : { "b" => [value.encoding.name, [value].pack("m0")] }
      end

      def global_id(value)
        raise Error, "holds a #{value.class} with changes that are not saved" if value.try(:changed?)

        value.to_global_id.to_s
      rescue ::URI::GID::MissingModelIdError
        raise Error, "holds a #{value.class} that is not saved"
      end

      def restore(tag, content)
        case tag
        when "s" then content.to_sym
        when "h" then load(content).to_h
        when "i" then ::ActiveSupport::HashWithIndifferentAccess.new(load(content).to_h)
        when "e" then load(content).to_set
        when "g" then ::GlobalID::Locator.locate(content)
        when "b" then content.last.unpack1("m0").force_encoding(content.first)
        else restore_number(tag, content)
        end
      end

      def restore_number(tag, content)
        case tag
        when "d" then Date.iso8601(content)
        when "dt" then DateTime.iso8601(content)
        when "t" then time(*content)
        when "z" then time(content[0], content[1], "UTC").in_time_zone(content[2])
        when "n" then BigDecimal(content)
        when "r" then Rational(content)
        when "f" then { "NaN" => Float::NAN, "Infinity" => Float::INFINITY, "-Infinity" => -Float::INFINITY }[content]
        end
      end

      def time(seconds, nanoseconds, zone)
        Time.at(seconds, nanoseconds, :nsec, in: zone)
      end

      private_class_method :object, :members, :string, :global_id, :restore, :restore_number, :time
    end
  end
end
