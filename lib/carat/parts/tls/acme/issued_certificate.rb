# frozen_string_literal: true

require "openssl"
require_relative "acme_error"

module Carat
  module ACME
    # A certificate of an authority, with its chain and its key. All are in one PEM file, so that they are replaced
    # together.
    class IssuedCertificate
      CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?/m
      CHAIN_LIMIT = 10
      private_constant :CERTIFICATE, :CHAIN_LIMIT

      # Returns a new key and the request for a certificate for `name`, in DER.
      def self.request(name)
        key = OpenSSL::PKey::EC.generate("prime256v1")
        request = OpenSSL::X509::Request.new
        request.version = 0
        request.subject = OpenSSL::X509::Name.new([])
        request.public_key = key
        extension = OpenSSL::X509::ExtensionFactory.new.create_extension("subjectAltName", "DNS:#{name}")
        extensions = OpenSSL::ASN1::Set([OpenSSL::ASN1::Sequence([extension])])
        request.add_attribute(OpenSSL::X509::Attribute.new("extReq", extensions))
        request.sign(key, "SHA256")
        [key, request.to_der]
      end

      # Returns an IssuedCertificate from the authority's response and the key for which it was requested. Raises
      # ACMEError when the certificate is not for that key and `name`.
      def self.of(text, key, name)
        chain = text.b.scan(CERTIFICATE)
        raise ACMEError, "the authority sent no certificate" unless (1..CHAIN_LIMIT).cover?(chain.size)

        new(chain.join + key.private_to_pem).tap { |issued| issued.refuse_other(name) }
      end

      # Returns the PEM text.
      attr_reader :text

      # `text` is PEM. Raises ACMEError when it cannot be read.
      def initialize(text)
        @text = text
        @certificate = OpenSSL::X509::Certificate.new(text[CERTIFICATE].to_s)
        @key = OpenSSL::PKey.read(text)
      rescue OpenSSL::OpenSSLError => e
        raise ACMEError, "the certificate cannot be read: #{e.message}"
      end

      # Raises ACMEError unless the certificate is valid for `name` and fits the key.
      def refuse_other(name)
        fits = @certificate.check_private_key(@key) && OpenSSL::SSL.verify_certificate_identity(@certificate, name)
        raise ACMEError, "the certificate is not the one that was asked for" unless fits
        raise ACMEError, "the certificate has expired" unless expires > Time.now
      end

      # Returns the Time at which the certificate expires.
      def expires
        @certificate.not_after
      end

      # Returns the length of the certificate's whole validity, in seconds.
      def lifetime
        expires - @certificate.not_before
      end
    end
  end
end
