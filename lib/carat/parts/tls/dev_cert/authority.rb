# frozen_string_literal: true

require "fileutils"
require "ipaddr"
require "openssl"
require_relative "issued_certificate"

module Carat
  module CLI
    class DevCert
      # A file that only its owner may read, from its creation on.
      module PrivateFile
        module_function

        # Writes a new file in place of the old one, which another process may have open.
        def write(path, text)
          File.unlink(path) if File.file?(path) || File.symlink?(path)
          File.open(path, File::WRONLY | File::CREAT | File::EXCL, 0o600) { |file| file.write(text) }
        end
      end

      # The user's own authority: a certificate that the user makes the browsers of the machine trust, and its key. Both
      # are created with the first certificate.
      class Authority
        NAME = "Carat development authority"
        private_constant :NAME

        # `directory` is the directory of the certificate and the key.
        def initialize(directory)
          @directory = directory
        end

        # Returns the path of the certificate.
        def path
          File.join(@directory, "authority.crt")
        end

        # Returns an IssuedCertificate for these names.
        def issue(names)
          create unless File.exist?(path)
          key = OpenSSL::PKey.read(File.read(key_path))
          IssuedCertificate.server(names, authority: certificate, key: key)
        end

        # Whether the authority has signed the certificate in a file.
        def signed?(file)
          File.exist?(path) && OpenSSL::X509::Certificate.new(File.read(file)).verify(certificate.public_key)
        rescue OpenSSL::X509::CertificateError, OpenSSL::X509::StoreError, OpenSSL::PKey::PKeyError
          false
        end

        # Returns the names of the certificate in a file.
        def names(file)
          extensions = OpenSSL::X509::Certificate.new(File.read(file)).extensions
          names = extensions.find { |extension| extension.oid == "subjectAltName" } or return []
          names.value.split(", ").map do |text|
            name = text.partition(":").last
            name.include?(":") ? IPAddr.new(name).to_s : name
          end
        end

        private

        def certificate
          @certificate ||= OpenSSL::X509::Certificate.new(File.read(path))
        end

        def key_path
          File.join(@directory, "authority.key")
        end

        # Creates the authority. The certificate is written last, so that the authority is complete if the certificate
        # exists.
        def create
          FileUtils.mkdir_p(@directory, mode: 0o700)
          issued = IssuedCertificate.authority(NAME)
          PrivateFile.write(key_path, issued.key.private_to_pem)
          File.write(path, issued.certificate.to_pem)
        end
      end
    end
  end
end
