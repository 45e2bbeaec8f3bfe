# frozen_string_literal: true

require "uri"
require_relative "../import/call"
require_relative "../import/puma_values"

module Carat
  module CLI
    class Import
      # Translates an address for TLS in Puma's configuration: `bind "ssl://..."` and `ssl_bind`.
      class PumaTLS
        WANTING = 'Carat needs a certificate and its key: bind "tls://HOST:PORT?cert=FILE&key=FILE"; ' \
                  "`carat dev-cert` makes both for development"
        BY_HAND = 'write bind "tls://HOST:PORT?cert=FILE&key=FILE"'
        # Puma's modes of verifying clients, each with Carat's mode.
        VERIFY = { "peer" => "optional", "force_peer" => "required" }.freeze
        # Parameters that Carat may leave out because they always hold: Carat speaks only TLS 1.2 and 1.3.
        ALWAYS = { "no_tlsv1" => "true", "no_tlsv1_1" => "true", "verify_mode" => "none" }.freeze
        HINTS = {
          "backlog" => "see the option backlog",
          "cert_pem" => "write it to a file", "key_pem" => "write it to a file",
          "key_password_command" => "the key must not be encrypted",
          "ssl_cipher_filter" => "Carat has modern ciphers only", "ssl_ciphersuites" => "Carat has modern ciphers only",
          "reuse" => "sessions are always resumed"
        }.freeze
        # A piece of a String in double quotes: a character, or an interpolation that contains no braces.
        PIECE = /(?:[^&?\#{}"\\]|\#\{[^{}]*\})/
        URL = /\A"ssl:\/\/(?<place>#{PIECE}+?)(?:\?(?<query>(?:#{PIECE}|&)*))?"\z/
        private_constant :ALWAYS, :BY_HAND, :HINTS, :PIECE, :URL, :VERIFY, :WANTING

        class << self
          # Returns the Translation of `bind`, a Call, or nil when its address is not one for TLS.
          def bind(call)
            source = call.arguments.first.to_s
            return unless source.match?(/\A["']ssl:/)

            match = URL.match(source.sub(/\A'(.*)'\z/, '"\1"')) or return Translation.new(nil, BY_HAND)
            pairs = match[:query].to_s.split("&").map { |pair| pair.partition("=").values_at(0, 2) }
            new(match[:place], pairs.to_h).translation
          end

          # Returns the Translation of `ssl_bind`, a Call.
          def ssl_bind(call)
            host = text(PumaValues.bracketed(call.string(0)), call.arguments.first)
            port = text(call.string(1) || call.number(1), call.arguments[1])
            pairs = call.pairs(2)
            return Translation.new(nil, BY_HAND) unless port && pairs

            new("#{host}:#{port}", pairs.to_h { |name, (string, source)| [name, text(string, source)] }).translation
          end

          private

          # The source of an argument within double quotes: a literal as it is, and other code as an interpolation.
          def text(literal, source)
            literal ? literal.to_s.inspect[1..-2] : ("\#{#{source}}" if source)
          end
        end

        # `place` is the host and the port, and `pairs` are the parameters by name. All are source text of a String in
        # double quotes.
        def initialize(place, pairs)
          @place = place
          @pairs = pairs.transform_values { |value| value.include?("%") ? URI.decode_www_form_component(value) : value }
        end

        # Returns the Translation.
        def translation
          return Translation.new(nil, WANTING) unless @pairs.key?("cert") && @pairs.key?("key")

          Translation.new("bind \"tls://#{@place}?#{parameters}\"", left_out)
        end

        private

        def parameters
          [*@pairs.slice("cert", "key"), *clients].map { |name, value| "#{name}=#{value}" }.join("&")
        end

        # The parameters for clients' certificates. Puma asks for them only when `verify_mode` says so.
        def clients
          verify = VERIFY[@pairs["verify_mode"]]
          verify && @pairs.key?("ca") ? { "ca" => @pairs["ca"], "verify" => verify } : {}
        end

        def left_out
          known = ["cert", "key", "ca", *("verify_mode" if clients.any?)]
          others = @pairs.except(*known).reject { |name, value| ALWAYS[name] == value }.keys
          notes = others.map { |name| HINTS.key?(name) ? "#{name} (#{HINTS[name]})" : name }
          "without #{notes.join(", ")}" if notes.any?
        end
      end
    end
  end
end
