# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "carat/parts/tls/certificates"
require "support/workplace"

module Carat
  class DoctorCertificatesTest < Minitest::Test
    include Support::Workplace

    def test_without_an_authority_there_is_nothing_to_say
      assert_equal "ok       certificates: no authority is asked for any", finding("tcp://127.0.0.1:1")
    end

    def test_it_says_when_each_expires
      keep(expires: 1_800_000_000, error: nil)
      assert_equal "ok       certificates: a.example expires 2027-01-15, b.example is not issued yet", finding
    end

    def test_names_on_demand_are_mentioned
      keep(expires: 1_800_000_000, error: nil)
      assert_equal "ok       certificates: further names on demand", finding("tls://127.0.0.1:443?acme=*")
      assert_equal "ok       certificates: a.example expires 2027-01-15, further names on demand",
                   finding("tls://127.0.0.1:443?acme=a.example,*")
    end

    def test_it_says_why_there_is_none
      keep(expires: nil, error: "no luck")
      assert_equal "warning  certificates: a.example: no luck", finding
    end

    def test_a_directory_that_cannot_be_made_is_a_problem
      write("file", "")
      assert_equal "problem  certificates: this user cannot write to #{path("file")} (acme_storage)",
                   finding(storage: "file/x")
    end

    private

    def keep(**status)
      write("acme/ca.example/a.example/status.json", JSON.generate(status))
    end

    def finding(bind = "tls://127.0.0.1:443?acme=a.example,b.example", storage: "acme")
      options = { bind: [bind], acme_directory: "https://ca.example/dir", acme_storage: path(storage) }
      CLI::Doctor::Certificates.new(options).finding.to_s
    end
  end
end
