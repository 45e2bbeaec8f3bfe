# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/sources/flags"
require_relative "../../cli/subcommand"

module Carat
  module CLI
    # `carat dev-cert`.
    class DevCert
      include Subcommand

      # The words after `Usage: carat` in the help.
      USAGE = "dev-cert [NAME ...]"

      # The sentence in the list of subcommands.
      SUMMARY = "Makes a certificate for localhost, for development with TLS."

      # The names for which every certificate is valid.
      LOCAL = %w[localhost *.localhost 127.0.0.1 ::1].freeze
      FILES = %w[localhost.crt localhost.key].freeze
      NAME = /\A(?:\*\.)?[\w-]+(?:\.[\w-]+)*\z|\A[\h:]+\z/
      LEGEND = <<~TEXT
        Writes localhost.crt and localhost.key into the current directory, valid for
        localhost, *.localhost, 127.0.0.1, ::1, and for further names. An authority of
        your own signs it, which the first run makes in ~/.local/share/carat; browsers
        accept the certificate once they trust that authority. A later run renews it
        and keeps its names.
      TEXT
      private_constant :FILES, :LEGEND, :LOCAL, :NAME

      # Writes the certificate and its key, and says what to do with them. Raises ConfigError.
      def run
        load_openssl
        wrong = @arguments.reject { |name| NAME.match?(name) }
        raise Config::ConfigError, "#{wrong.first}: not a host name or an IP address" if wrong.any?

        authority = Authority.new(directory)
        refuse_foreign(authority)
        write(authority.issue((LOCAL + earlier(authority) + @arguments).uniq))
        say(*advice(authority))
      rescue SystemCallError => e
        raise Config::ConfigError, e.message.sub(/ @ \w+/, "")
      end

      private

      # No options: the subcommand does not read the configuration of a server.
      def flags
        Config::Flags.new(options: [], help: "carat dev-cert --help")
      end

      def load_openssl
        require_relative "dev_cert/authority"
      rescue LoadError
        raise Config::ConfigError, "dev-cert needs Ruby's openssl library"
      end

      def directory
        data = @env["XDG_DATA_HOME"].to_s
        data = File.join(@env.fetch("HOME") { Dir.home }, ".local/share") unless data.start_with?("/")
        File.join(data, "carat")
      end

      # Raises ConfigError rather than replace the certificate of another authority, or a key without a certificate.
      def refuse_foreign(authority)
        present = FILES.select { |name| File.exist?(name) }
        return if present.empty? || (File.file?(FILES.first) && authority.signed?(FILES.first))

        raise Config::ConfigError, "#{present.first}: not made by carat dev-cert; move it away first"
      end

      # The names of the certificate that is renewed.
      def earlier(authority)
        certificate = FILES.first
        File.file?(certificate) ? authority.names(certificate) : []
      end

      def write(issued)
        certificate, key = FILES
        PrivateFile.write(key, issued.key.private_to_pem)
        File.write(certificate, issued.certificate.to_pem)
      end

      def advice(authority)
        certificate, key = FILES
        ["carat: #{certificate} and #{key} are valid for 825 days; run this again to renew them",
         "", "  carat -b \"tls://localhost:9443?cert=#{certificate}&key=#{key}\"",
         "", "To trust the authority:", "",
         "  sudo cp #{authority.path} /usr/local/share/ca-certificates/carat.crt && sudo update-ca-certificates",
         "  curl --cacert #{authority.path} https://localhost:9443/   # or for one command",
         "", "Browsers import it as an authority in their settings. Keep #{directory} to yourself."]
      end
    end
  end
end
