# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/configuration"
require "carat/config/sources/flags"
require_relative "../../../support/workplace"

module Carat
  class TLSPartTest < Minitest::Test
    include Support::Workplace

    def test_an_external_account_has_a_name_and_a_key
      assert_match(/acme_eab_key/, problem(%w[--acme-eab-kid kid]))
      assert_match(/acme_eab_kid/, problem([], "CARAT_ACME_EAB_KEY" => "abcd"))
      assert_match(/not base64/, problem(%w[--acme-eab-kid kid], "CARAT_ACME_EAB_KEY" => "a b"))
      assert_nil problem(%w[--acme-eab-kid kid], "CARAT_ACME_EAB_KEY" => "ab-_")
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
