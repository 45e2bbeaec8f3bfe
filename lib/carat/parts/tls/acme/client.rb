# frozen_string_literal: true

require "json"
require_relative "acme_error"
require_relative "authority"
require_relative "connection"
require_relative "edge_messages"
require_relative "external_account"
require_relative "folder"
require_relative "certificate_order"
require_relative "schedule"

module Carat
  # Certificates from an authority that speaks ACME.
  module ACME
    # The program that the edge starts when certificates are due. It ends when it has tried all their names.
    class Client
      # The environment variable with the MAC key of the external account: words of a command are no secret.
      EXTERNAL_KEY = "CARAT_ACME_EAB_KEY"
      # The most memory that the program may use, whatever an authority sends.
      MEMORY_LIMIT = 512 * 1024 * 1024
      # The seconds after which no order for a further name begins: the rest of the program's time might not suffice for
      # it. The edge starts another client for the remaining names.
      SECONDS = 400
      # The seconds until every server that shares the folder has read the proof, since the authority may ask any of
      # them. Servers look at the folder every second until there is a certificate, and then every ten seconds.
      FIRST_SETTLE_SECONDS = 2
      SETTLE_SECONDS = 11
      private_constant :EXTERNAL_KEY, :FIRST_SETTLE_SECONDS, :MEMORY_LIMIT, :SECONDS, :SETTLE_SECONDS

      # `words` are the settings as JSON, and the names that are due.
      def self.run(words)
        edge = EdgeMessages.new(IO.for_fd(Integer(ENV.delete("CARAT_ACME_FD"), 10), "r+", sync: true))
        Process.setrlimit(:DATA, MEMORY_LIMIT)
        settings, *names = words
        new(JSON.parse(settings, symbolize_names: true), edge, external_key: ENV.delete(EXTERNAL_KEY)).run(names)
        edge.done
      rescue ACMEError, SystemCallError, NoMemoryError => e
        edge.unable(e.message)
      end

      # `settings` are the Hash of Launch::ACMECommand; `edge` is an EdgeMessages, or has its methods; `external_key` is
      # the MAC key of the external account, or nil.
      def initialize(settings, edge, external_key: nil)
        @settings = settings
        @edge = edge
        @external_key = external_key
        @folder = Folder.new(settings.fetch(:folder))
        @deadline = now + SECONDS
      end

      # Orders a certificate for each of `names` that is still due. Raises ACMEError when nothing can be written to the
      # folder.
      def run(names)
        @folder.lock do
          names.each { |name| renew(name) if now < @deadline && due?(name) }
        end
      end

      private

      # Whether a certificate for the name is due. Another server may have ordered it meanwhile.
      def due?(name)
        status = @folder.status(name)
        open = status["error"].nil? && @folder.certificate(name).nil?
        open || status["due"].to_i <= Time.now.to_i
      end

      def renew(name)
        failures = @folder.status(name)["failures"].to_i
        issued = order(name, failures).issue
        @folder.keep_certificate(name, issued)
        renewal = Schedule.renewal(issued)
        @folder.keep_status(name, expires: issued.expires.to_i, due: renewal.to_i, error: nil, failures: 0)
        @edge.issued(name, expires: issued.expires, renewal: renewal)
      rescue ACMEError => e
        fail_for(name, failures + 1, e)
      end

      def fail_for(name, failures, error)
        attempt = Schedule.attempt(failures, retry_after: error.retry_after)
        expires = @folder.certificate(name)&.expires&.to_i
        @folder.keep_status(name, expires: expires, due: attempt.to_i, error: error.message, failures: failures)
        @edge.failed(name, reason: error.message, attempt: attempt)
      end

      # Returns a new order. After a failure, the next attempt uses another type of proof.
      def order(name, failures)
        types = @settings.fetch(:validations)
        CertificateOrder.new(authority, name, types[failures % types.size], folder: @folder, look: -> { look(name) })
      end

      def look(name)
        @edge.look
        sleep(@folder.certificate(name) ? SETTLE_SECONDS : FIRST_SETTLE_SECONDS)
      end

      def authority
        @authority ||= Authority.new(
          @settings.fetch(:directory), key: @folder.account_key, contact: @settings[:contact], external: external,
                                       connection: Connection.new(authorities: @settings[:authorities])
        )
      end

      def external
        ExternalAccount.new(@settings[:external_kid], @external_key) if @settings[:external_kid] && @external_key
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
