# frozen_string_literal: true

require_relative "acme_command"
require_relative "ask"
require_relative "../part"
require_relative "../../cli/units"

module Carat
  module Parts
    # Encrypted connections, and certificates of an authority that speaks ACME.
    module TLS
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :acme_directory, group: "Certificates", type: :https_url, restart: false,
                                default: "https://acme-v02.api.letsencrypt.org/directory",
                                default_text: "Let's Encrypt's",
                                doc: "The ACME directory of the authority that issues certificates for `acme=` in " \
                                     "`bind`."
        option :acme_storage, group: "Certificates", type: :new_directory, default: "storage/acme", restart: false,
                              doc: "The directory of these certificates and of the account's key."
        option :acme_contact, group: "Certificates", type: :string, restart: false,
                              doc: "A mail address for the account at the authority."
        option :acme_ca, group: "Certificates", type: :file, default_text: "the system's", restart: false,
                         doc: "A PEM file with those who sign the authority's own certificate."
        option :acme_ask, group: "Certificates", type: ASK, default_text: "off", edge: true, restart: true,
                          doc: "Who says which names get a certificate when a client asks for them, for `acme=*` in " \
                               "`bind`."
        option :acme_eab_kid, group: "Certificates", type: :string, restart: false,
                              doc: "The identifier of an account that you have at the authority, if it wants one."
        option :acme_eab_key, group: "Certificates", type: :string, only: %i[env file], edge: true, secret: true,
                              restart: false,
                              doc: "The MAC key of that account, in base64 as the authority gives it."
        option :handshake_timeout, group: "Client limits", type: :seconds, default: 10, edge: true, limit: "close",
                                   doc: "How long a TLS handshake may take."

        # The hint about Thruster, which orders a certificate itself.
        THRUSTER = <<~TEXT
          # TLS_DOMAIN becomes:
          # bind "tls://*:443?acme=example.com"
        TEXT
        BASE64 = %r{\A[\w+/-]+=*\z}
        FAILED_ROWS = 5
        private_constant :BASE64, :FAILED_ROWS, :THRUSTER

        # Refuses `acme=*` without anybody to ask, an `acme_ask` that nobody needs, and half an external account.
        def check(configuration)
          check_ask(configuration, Launch::ACMECommand.open?(configuration[:bind]))
          check_external(configuration)
        end

        # The folder of the authority's certificates, and the command that orders them.
        def edge_settings(configuration)
          command = Launch::ACMECommand.new(configuration)
          { acme_folder: command.folder, acme_command: command.to_a }
        end

        # The class for addresses that begin with tls://.
        def addresses
          require_relative "parameters"
          Parameters
        end

        # The translation of Thruster's variable.
        def import_hints = { "bin/thrust" => THRUSTER }

        # The translations of Puma's encrypted addresses.
        def puma_calls
          require_relative "puma_tls"
          { bind: CLI::Import::PumaTLS.method(:bind), ssl_bind: CLI::Import::PumaTLS.method(:ssl_bind) }
        end

        # The subcommand `dev-cert`, which makes certificates for development.
        def subcommands
          { "dev-cert" => File.join(__dir__, "dev_cert") }
        end

        # The check of the authority's certificates.
        def doctor_checks
          require_relative "certificates"
          [CLI::Doctor::Certificates]
        end

        # The lines of `carat status`: one for each certificate of the authority whose name is in `bind`, and for those
        # on demand their number, and the first that could not be renewed.
        def status(report)
          further, listed = report.fetch("certificates", []).partition { |row| row["on_demand"] }
          failed = further.select { |row| row["error"] }.first(FAILED_ROWS)
          lines = (listed + failed).map { |row| certificate_line(row) }
          further.any? ? lines << "certificates on demand: #{further.size}" : lines
        end

        # Whether an address of `bind` is encrypted.
        def https?(configuration)
          configuration[:bind].any? { |address| address.start_with?("tls://") }
        end

        private

        def check_ask(configuration, is_open)
          ask = configuration[:acme_ask]
          configuration.refuse(:bind, "acme=* needs acme_ask, such as acme_ask \"/domains\"") if is_open && !ask
          configuration.refuse(:acme_ask, "no address of bind has acme=*, which needs it") if ask && !is_open
        end

        def check_external(configuration)
          kid, key = configuration[:acme_eab_kid], configuration[:acme_eab_key]
          configuration.refuse(:acme_eab_kid, "the authority also gives an acme_eab_key") if kid && !key
          configuration.refuse(:acme_eab_key, "the authority also gives an acme_eab_kid") if key && !kid
          configuration.refuse(:acme_eab_key, "the key is not base64") if key && !BASE64.match?(key)
        end

        def certificate_line(row)
          expires, due = row.values_at("expires", "due").map { |at| "in #{time_until(at)}" if at }
          state = [expires ? "expires #{expires}" : "none",
                   ("#{row["error"] || !expires ? "next attempt" : "renewal"} #{due}" if due)].compact.join(", ")
          "certificate of #{row.fetch("name")}: #{[state, row["error"]].compact.join(": ")}"
        end

        def time_until(at)
          CLI::Units.seconds([at - Time.now.to_i, 0].max)
        end
      end
    end
  end
end
