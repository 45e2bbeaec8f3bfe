# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/parts/tls/acme/authority"
require "carat/parts/tls/acme/connection"

module Carat
  class ACMEAuthorityTest < Minitest::Test
    # Answers of an authority, in their order.
    class Script
      def initialize(*answers)
        @answers = answers
      end

      %i[get head post].each { |name| define_method(name) { |*| @answers.shift || flunk } }
    end

    DIRECTORY = { newNonce: "n", newAccount: "a", newOrder: "o" }.freeze
    KEY = ACME::AccountKey.new(ACME::AccountKey.generate)

    def test_what_is_no_directory_is_a_sentence
      ["", "[]", "{", "null", "\xFF".b, "{\"newOrder\": null}", "[" * 10_000].each do |body|
        error = assert_raises(ACME::ACMEError) { order(answer(body)) }
        assert_match(/is not (?:JSON|an object|the directory)|does not name/, error.message)
      end
    end

    def test_the_reason_of_a_refusal_is_cut_and_printable
      refused = answer(JSON.generate(detail: "no\n\e[2J#{"x" * 10_000}"), 429, "retry-after" => "60")
      error = assert_raises(ACME::ACMEError) { order(directory, nonce, refused) }

      assert_match(/\Athe authority answered 429: no \[2Jx+\z/, error.message)
      assert_equal [500, 60], [error.message.size, error.retry_after]
    end

    def test_nonces_are_not_refused_for_ever
      bad = answer(JSON.generate(type: "urn:ietf:params:acme:error:badNonce"), 400, "replay-nonce" => "x")
      error = assert_raises(ACME::ACMEError) { order(directory, nonce, *Array.new(10) { bad }) }

      assert_match(/refused 10 nonces/, error.message)
    end

    def test_a_message_is_signed_with_the_key_of_the_account
      message = JSON.parse(KEY.sign({ nonce: "x" }, "{}"))
      point = KEY.to_jwk.values_at(:x, :y).map { |text| text.tr("-_", "+/").unpack1("m") }
      signature = message["signature"].tr("-_", "+/").unpack1("m")
      numbers = [signature[0, 32], signature[32, 32]].map { |bytes| OpenSSL::ASN1::Integer(OpenSSL::BN.new(bytes, 2)) }

      assert public_key(point.join).verify("SHA256", OpenSSL::ASN1::Sequence(numbers).to_der,
                                           message.values_at("protected", "payload").join("."))
    end

    private

    def order(*answers)
      ACME::Authority.new("https://a/dir", key: KEY, connection: Script.new(*answers)).order("a.example")
    end

    def answer(body, status = 200, **header)
      ACME::Connection::Answer.new(status, header.transform_keys(&:to_s), body)
    end

    def directory
      answer(JSON.generate(DIRECTORY))
    end

    def nonce
      answer("", 200, "replay-nonce" => "n")
    end

    def public_key(point)
      algorithm = OpenSSL::ASN1::Sequence(%w[id-ecPublicKey prime256v1].map { |name| OpenSSL::ASN1::ObjectId(name) })
      bits = OpenSSL::ASN1::BitString("\x04#{point}".b)
      OpenSSL::PKey.read(OpenSSL::ASN1::Sequence([algorithm, bits]).to_der)
    end
  end
end
