# frozen_string_literal: true

require "digest"
require "openssl"
require_relative "acme_error"

module Carat
  module ACME
    # The proof to the authority that a name belongs to the server: a certificate in a handshake (RFC 8737), or a
    # response over HTTP (RFC 8555, section 8.3).
    class Validation
      # The type of the proof in a handshake. The other type is http-01.
      TLS = "tls-alpn-01"
      TOKEN = /\A[\w-]{1,256}\z/
      # The object identifier of the extension id-pe-acmeIdentifier.
      IDENTIFIER = "1.3.6.1.5.5.7.1.31"
      DAY = 24 * 60 * 60
      private_constant :DAY, :IDENTIFIER, :TLS, :TOKEN

      # Returns the URL of the challenge: a POST to it tells the authority to check the proof.
      attr_reader :url

      # `challenges` are the challenges of an authorization, `type` is the type to use, and `key` is the AccountKey.
      def initialize(challenges, type, name:, key:)
        challenge = challenges.find { |offered| offered["type"] == type }
        raise ACMEError, "the authority does not offer #{type}" unless challenge

        @type = type
        @name = name
        @url = challenge["url"]
        token = challenge["token"]
        raise ACMEError, "the authority's token is not valid" unless TOKEN.match?(token.to_s)

        @authorization = key.authorization(token)
      end

      # Returns the file that the edge reads for the proof: its name in the folder of the host name, and its content.
      def to_file
        @type == TLS ? ["validation.pem", certificate] : ["response", @authorization]
      end

      private

      def certificate
        key = OpenSSL::PKey::EC.generate("prime256v1")
        certificate = OpenSSL::X509::Certificate.new
        certificate.version = 2
        certificate.serial = OpenSSL::BN.rand(127)
        certificate.subject = certificate.issuer = OpenSSL::X509::Name.new([["CN", "carat acme"]])
        certificate.not_before = Time.now - DAY
        certificate.not_after = Time.now + DAY
        certificate.public_key = key
        extensions(certificate).each { |extension| certificate.add_extension(extension) }
        certificate.sign(key, "SHA256")
        certificate.to_pem + key.private_to_pem
      end

      def extensions(certificate)
        factory = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
        digest = OpenSSL::ASN1::OctetString.new(Digest::SHA256.digest(@authorization)).to_der
        [factory.create_extension("subjectAltName", "DNS:#{@name}"),
         OpenSSL::X509::Extension.new(IDENTIFIER, digest, true)]
      end
    end
  end
end
