# frozen_string_literal: true

require_relative "account_key"
require_relative "acme_error"
require_relative "issued_certificate"
require_relative "validation"

module Carat
  module ACME
    # An order of a certificate for one name: proves that the name belongs to this server, and gets the certificate.
    class CertificateOrder
      SECONDS = 120
      POLL_SECONDS = (1..15).freeze
      private_constant :POLL_SECONDS, :SECONDS

      # `type` is the type of a Validation. `folder` keeps the file that proves the name, and `look` is called when the
      # file is there.
      def initialize(authority, name, type, folder:, look:)
        @authority = authority
        @name = name
        @type = type
        @folder = folder
        @look = look
        @deadline = now + SECONDS
      end

      # Returns the IssuedCertificate. Raises ACMEError.
      def issue
        order = @authority.order(@name)
        Array(order.json["authorizations"]).first(1).each { |url| authorize(url) }
        ready = await(order.url, "pending")
        key, request = IssuedCertificate.request(@name)
        @authority.post(ready.json["finalize"], { csr: AccountKey.base64(request) })
        valid = await(order.url, "ready", "processing")
        IssuedCertificate.of(@authority.get(valid.json["certificate"]).text, key, @name)
      end

      private

      # Proves the name, unless the authorization is valid from an earlier order.
      def authorize(url)
        authorization = @authority.get(url).json
        return if authorization["status"] == "valid"

        challenges = Array(authorization["challenges"]).grep(Hash)
        validation = Validation.new(challenges, @type, name: @name, key: @authority.key)
        @folder.answer(@name, validation.to_file) do
          @look.call
          @authority.post(validation.url, {})
          await(url, "pending")
        end
      end

      # Polls the resource until its status is none of `statuses`, and returns it.
      def await(url, *statuses)
        loop do
          resource = @authority.get(url)
          status = resource.json["status"]
          raise ACMEError, refusal(resource.json) if %w[invalid deactivated expired revoked].include?(status)
          return resource unless statuses.include?(status)
          raise ACMEError, "the authority has not decided within #{SECONDS} s" if now > @deadline

          sleep(resource.retry_after.clamp(POLL_SECONDS))
        end
      end

      def refusal(json)
        failed = Array(json["challenges"]).grep(Hash).find { |challenge| challenge["error"].is_a?(Hash) }
        error = failed ? failed["error"] : json["error"]
        detail = error["detail"] if error.is_a?(Hash)
        "the authority refused #{failed ? failed["type"] : "the order"}: #{detail || "no reason"}"
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
