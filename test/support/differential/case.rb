# frozen_string_literal: true

module Support
  module Differential
    # Bytes of one connection. Each target begins with /*/NUMBER/, where * becomes a letter that says to whom the bytes
    # are sent, so that whatever arrives can be told apart. The last request asks for the connection to be closed.
    Case = Struct.new(:number, :name, :text, :well_formed) do
      # The start of all targets of a case.
      def self.path(number)
        "/*/#{number}"
      end

      # Whether every server must serve all of it.
      def well_formed?
        !!well_formed
      end

      # @param letter [String] whom the bytes are for
      def bytes(letter)
        (text.b << last).gsub("/*/", "/#{letter}/")
      end

      def to_s
        "case #{number}, #{name}: #{bytes("*").dump}"
      end

      private

      def last
        "GET #{Case.path(number)}/last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".b
      end
    end
  end
end
