# frozen_string_literal: true

require_relative "../../launch/acme_command"
require_relative "../../part"

module Carat
  module Parts
    # Encrypted connections, and certificates of an authority that speaks ACME.
    class TLS < Part
      option :acme_directory, group: "Certificates", type: :https_url, restart: false,
                              default: "https://acme-v02.api.letsencrypt.org/directory",
                              default_text: "Let's Encrypt's",
                              doc: "The ACME directory of the authority that issues certificates for `acme=` in `bind`."
      option :acme_storage, group: "Certificates", type: :new_directory, default: "storage/acme", restart: false,
                            doc: "The directory of these certificates and of the account's key."
      option :acme_contact, group: "Certificates", type: :string, restart: false,
                            doc: "A mail address for the account at the authority."
      option :acme_ca, group: "Certificates", type: :file, default_text: "the system's", restart: false,
                       doc: "A PEM file with those who sign the authority's own certificate."
      option :handshake_timeout, group: "Client limits", type: :seconds, default: 10, edge: true, limit: "close",
                                 doc: "How long a TLS handshake may take."

      # Where certificates of the authority are kept, and the command that asks for them.
      def edge_settings(configuration)
        command = Launch::ACMECommand.new(configuration)
        { acme_folder: command.folder, acme_command: command.to_a }
      end
    end
  end
end
