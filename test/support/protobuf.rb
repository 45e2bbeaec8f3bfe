# frozen_string_literal: true

require "stringio"

module Support
  # Reads messages of Protocol Buffers.
  module Protobuf
    module_function

    # The values of a message by the number of their field: Integers and bytes.
    def fields(message)
      io = StringIO.new(message.b)
      fields = Hash.new { |hash, number| hash[number] = [] }
      until io.eof?
        key = varint(io)
        fields[key >> 3] << value(io, key & 7)
      end
      fields
    end

    # The numbers of a packed field.
    def varints(bytes)
      io = StringIO.new(bytes)
      values = []
      values << varint(io) until io.eof?
      values
    end

    def value(io, type)
      case type
      when 0 then varint(io)
      when 1 then io.read(8).unpack1("Q<")
      when 2 then io.read(varint(io)).to_s
      else raise "unexpected wire type #{type}"
      end
    end

    def varint(io)
      number = shift = 0
      loop do
        byte = io.readbyte
        number |= (byte & 127) << shift
        return number if byte < 128

        shift += 7
      end
    end
  end
end
