# frozen_string_literal: true

module Carat
  module ACME
    # A certificate could not be had; the message is one sentence.
    class ACMEError < StandardError
      LIMIT = 500
      private_constant :LIMIT

      # Returns after how many seconds the authority wants to be asked again; 0 when it says nothing.
      attr_reader :retry_after

      def initialize(message, retry_after: 0)
        @retry_after = retry_after
        text = message.dup.force_encoding(Encoding::UTF_8).scrub("?").gsub(/[[:cntrl:]]+/, " ")
        super(text[0, LIMIT])
      end
    end
  end
end
