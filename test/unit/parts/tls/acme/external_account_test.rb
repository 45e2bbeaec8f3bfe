# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/parts/tls/acme/external_account"
require "carat/parts/tls/acme_command"

module Carat
  class ACMEExternalAccountTest < Minitest::Test
    KEY = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
    JWK = { crv: "P-256", kty: "EC", x: "x", y: "y" }.freeze

    def test_the_key_of_the_account_is_signed_with_the_key_of_the_customer
      binding = ACME::ExternalAccount.new("kid-1", KEY).binding_of(JWK, "https://a/new")
      header, payload = binding.values_at(:protected, :payload).map { |part| JSON.parse(decode(part)) }
      mac = OpenSSL::HMAC.digest("SHA256", decode(KEY), binding.values_at(:protected, :payload).join("."))

      assert_equal({ "alg" => "HS256", "kid" => "kid-1", "url" => "https://a/new" }, header)
      assert_equal JWK.transform_keys(&:to_s), payload
      assert_equal mac, decode(binding.fetch(:signature))
    end

    def test_the_key_is_not_in_the_words_of_the_command
      configuration = { acme_directory: "https://a/dir", acme_storage: "/s", bind: [], acme_eab_kid: "kid-1",
                        acme_eab_key: KEY }
      words = Launch::ACMECommand.new(configuration).to_a

      assert_includes words.last, "kid-1"
      refute_includes words.join, KEY
    end

    private

    def decode(text)
      text.tr("-_", "+/").unpack1("m")
    end
  end
end
