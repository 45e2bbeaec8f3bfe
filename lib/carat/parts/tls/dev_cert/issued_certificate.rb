# frozen_string_literal: true

require "openssl"

module Carat
  module CLI
    class DevCert
      # A new certificate with its key, ECDSA on P-256. An authority signs it, or it signs itself and is an authority.
      class IssuedCertificate
        DAY = 24 * 60 * 60
        # The validity in days. An authority lasts long because people have to trust it by hand. Browsers accept no
        # other certificate that is valid for more than 825 days.
        AUTHORITY_DAYS = 3650
        DAYS = 825
        private_constant :AUTHORITY_DAYS, :DAY, :DAYS

        # @return [OpenSSL::X509::Certificate]
        attr_reader :certificate

        # @return [OpenSSL::PKey::EC]
        attr_reader :key

        # Returns a new authority with this name.
        def self.authority(name)
          new(name, DAY * AUTHORITY_DAYS).tap do |issued|
            issued.extend_with("basicConstraints" => "critical,CA:TRUE,pathlen:0", "keyUsage" => "critical,keyCertSign",
                               "subjectKeyIdentifier" => "hash")
            issued.sign(issued.certificate, issued.key)
          end
        end

        # Returns a new certificate for DNS names and IP addresses, signed by an authority.
        def self.server(names, authority:, key:)
          new(names.first, DAY * DAYS).tap do |issued|
            subjects = names.map { |name| "#{name.match?(/\A[\h.:]*[.:]\h*\z/) ? "IP" : "DNS"}:#{name}" }
            issued.extend_with("basicConstraints" => "critical,CA:FALSE", "keyUsage" => "critical,digitalSignature",
                               "extendedKeyUsage" => "serverAuth", "subjectAltName" => subjects.join(","))
            issued.sign(authority, key)
          end
        end

        # `name` is the name of the subject. The certificate is valid for `seconds`.
        def initialize(name, seconds)
          @key = OpenSSL::PKey::EC.generate("prime256v1")
          @certificate = OpenSSL::X509::Certificate.new
          @certificate.version = 2
          @certificate.serial = OpenSSL::BN.rand(127)
          @certificate.subject = OpenSSL::X509::Name.new([["O", "carat dev-cert"], ["CN", name]])
          # A day ago, because the clocks of containers and virtual machines differ.
          @certificate.not_before = Time.now - DAY
          @certificate.not_after = Time.now + seconds
          @certificate.public_key = @key
        end

        # Adds extensions, by name.
        def extend_with(extensions)
          factory = OpenSSL::X509::ExtensionFactory.new(@certificate, @certificate)
          extensions.each { |name, value| @certificate.add_extension(factory.create_extension(name, value)) }
        end

        # Signs the certificate with `key`, the key of the certificate `issuer`.
        def sign(issuer, key)
          @certificate.issuer = issuer.subject
          @certificate.sign(key, "SHA256")
        end
      end
    end
  end
end
