# frozen_string_literal: true

require "uri"
require_relative "../../log/plain_json"
require_relative "../../launch/surroundings/ruby_program"

module Carat
  module Launch
    # The command that orders certificates, and the folder in which they are kept. The edge adds the names that are due.
    class ACMECommand
      RUN = "module Carat; ACME::Client.run(ARGV); end"
      # The value of `acme=` that stands for all names that the application calls its own.
      EVERY_OWN_NAME = "*"
      private_constant :EVERY_OWN_NAME, :RUN

      # Returns the host names that addresses name by `acme=`, in the form that the edge reads.
      def self.names(addresses)
        values(addresses) - [EVERY_OWN_NAME]
      end

      # Whether an address serves all names that the application calls its own.
      def self.open?(addresses)
        values(addresses).include?(EVERY_OWN_NAME)
      end

      def self.values(addresses)
        addresses.flat_map { |address| address.scan(/[?&]acme=([^&]+)/).flatten }.flat_map { |it| it.split(",") }.uniq
      end
      private_class_method :values

      # `configuration` is a Configuration.
      def initialize(configuration)
        @configuration = configuration
      end

      # Returns the folder for this authority. Another authority has its own folder, because its certificates differ.
      def folder
        authority = URI(@configuration[:acme_directory])
        port = "_#{authority.port}" unless authority.port == authority.default_port
        File.join(@configuration[:acme_storage], "#{authority.hostname}#{port}")
      end

      # Returns the words of the command line.
      def to_a
        [*RubyProgram.command, "-r", "carat/parts/tls/acme/client", "-e", RUN, "--", Log::PlainJSON.generate(settings)]
      end

      private

      def settings
        plain = @configuration[:bind].any? { |address| address.start_with?("tcp://") }
        { directory: @configuration[:acme_directory], folder:, contact: @configuration[:acme_contact],
          external_kid: @configuration[:acme_eab_kid], authorities: @configuration[:acme_ca],
          validations: ["tls-alpn-01", *("http-01" if plain)] }
      end
    end
  end
end
