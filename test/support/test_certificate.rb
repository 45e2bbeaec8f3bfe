# frozen_string_literal: true

require "openssl"

module Support
  # A certificate for names, with an ECDSA key on P-256 or a key of one's own. It signs itself, or an issuer signs it.
  class TestCertificate
    DAY = 24 * 60 * 60

    # @return [OpenSSL::X509::Certificate]
    attr_reader :certificate
    # @return [OpenSSL::PKey::PKey]
    attr_reader :key

    # @param names [Array<String>] DNS names and IP addresses; none for an authority
    # @param issuer [TestCertificate, nil] nil to sign itself
    # @param key [OpenSSL::PKey::PKey]
    def initialize(*names, issuer: nil, key: OpenSSL::PKey::EC.generate("prime256v1"))
      @key = key
      @certificate = build(names, issuer)
      @certificate.sign((issuer || self).key, "SHA256")
    end

    # Both files in PEM form, by name.
    def files(name = "server")
      { "#{name}.crt" => @certificate.to_pem, "#{name}.key" => @key.private_to_pem }
    end

    private

    def build(names, issuer)
      certificate = OpenSSL::X509::Certificate.new
      certificate.version = 2
      certificate.serial = OpenSSL::BN.rand(64)
      certificate.subject = OpenSSL::X509::Name.new([["CN", names.first || "Test Authority"]])
      certificate.issuer = issuer ? issuer.certificate.subject : certificate.subject
      certificate.not_before = Time.now - DAY
      certificate.not_after = Time.now + DAY
      certificate.public_key = @key
      extend_with(certificate, names, issuer)
      certificate
    end

    def extend_with(certificate, names, issuer)
      factory = OpenSSL::X509::ExtensionFactory.new(issuer&.certificate || certificate, certificate)
      certificate.add_extension(factory.create_extension("basicConstraints", "CA:#{names.empty?}".upcase, true))
      return if names.empty?

      all = names.map { |name| "#{name.match?(/\A[\h.:]+\z/) ? "IP" : "DNS"}:#{name}" }
      certificate.add_extension(factory.create_extension("subjectAltName", all.join(",")))
    end
  end
end
