# frozen_string_literal: true

require "digest"
require "json"
require "openssl"

module Carat
  module ACME
    # The key of the account at the authority, ECDSA on P-256, and its signatures (RFC 7515, RFC 8555 section 6.2).
    class AccountKey
      CURVE = "prime256v1"
      COORDINATE = 32
      private_constant :COORDINATE, :CURVE

      # Returns a new key in PEM.
      def self.generate
        OpenSSL::PKey::EC.generate(CURVE).private_to_pem
      end

      # Returns bytes in the protocol's base64: for URLs, without padding.
      def self.base64(bytes)
        [bytes].pack("m0").tr("+/", "-_").delete("=")
      end

      # `pem` is the text that .generate returned.
      def initialize(pem)
        @key = OpenSSL::PKey.read(pem)
      end

      # Returns a signed message: `header` is a Hash, `payload` a String.
      def sign(header, payload)
        protected, payload = [JSON.generate({ alg: "ES256", **header }), payload].map { |text| base64(text) }
        signature = raw(@key.sign("SHA256", "#{protected}.#{payload}"))
        JSON.generate(protected: protected, payload: payload, signature: base64(signature))
      end

      # Returns the public key as a Hash for JSON (RFC 7517), whose members are in the order of RFC 7638.
      def to_jwk
        point = @key.public_key.to_octet_string(:uncompressed)
        { crv: "P-256", kty: "EC", x: base64(point[1, COORDINATE]), y: base64(point[1 + COORDINATE, COORDINATE]) }
      end

      # Returns the key authorization for a token (RFC 8555 section 8.1): by showing it, the server proves that it
      # belongs to the owner of this key.
      def authorization(token)
        "#{token}.#{base64(Digest::SHA256.digest(JSON.generate(to_jwk)))}"
      end

      private

      # Converts a signature of OpenSSL, an ASN.1 sequence of two numbers, to the form of the protocol, the bytes of the
      # two.
      def raw(signature)
        numbers = OpenSSL::ASN1.decode(signature).value
        numbers.map { |number| number.value.to_s(2).rjust(COORDINATE, "\0") }.join
      end

      def base64(bytes)
        AccountKey.base64(bytes)
      end
    end
  end
end
