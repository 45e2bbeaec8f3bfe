# frozen_string_literal: true

require "carat/config/configuration"
require "carat/config/sources/flags"
require "test_helper"

module Carat
  class TLSPartTest < Minitest::Test
    include Support::Workplace

    OPEN = %w[-b tls://127.0.0.1:443?acme=*].freeze

    def test_an_external_account_has_a_name_and_a_key
      assert_match(/acme_eab_key/, problem(%w[--acme-eab-kid kid]))
      assert_match(/acme_eab_kid/, problem([], "CARAT_ACME_EAB_KEY" => "abcd"))
      assert_match(/not base64/, problem(%w[--acme-eab-kid kid], "CARAT_ACME_EAB_KEY" => "a b"))
      assert_nil problem(%w[--acme-eab-kid kid], "CARAT_ACME_EAB_KEY" => "ab-_")
    end

    def test_every_own_name_needs_somebody_to_ask_and_only_it
      assert_match(/acme=\* needs acme_ask, such as acme_ask "/, problem(OPEN))
      assert_match(/\A--acme-ask: no address of bind has acme=\*/, problem(%w[--acme-ask /domains]))
      assert_nil problem([*OPEN, "--acme-ask", "/domains"])
    end

    private

    # Returns what is wrong with a command line, or nil.
    def problem(words, env = {})
      write("config.ru", "")
      flags = Config::Flags.new
      flags.parse(words)
      Config::Configuration.new(flags.settings, env)
      nil
    rescue Config::ConfigError => e
      e.message
    end
  end
end
