# frozen_string_literal: true

require "minitest/autorun"
require "openssl"
require "stringio"
require "carat/cli/program"
require "support/workplace"

module Carat
  class DevCertTest < Minitest::Test
    include Support::Workplace

    def test_a_client_that_trusts_the_authority_accepts_the_certificate
      assert_equal 0, dev_cert("shop.test", "192.0.2.7")

      certificate = read("localhost.crt")
      store = OpenSSL::X509::Store.new.tap { |each| each.add_file(path("data/carat/authority.crt")) }
      assert store.verify(certificate), store.error_string
      %w[localhost app.localhost shop.test 127.0.0.1 ::1 192.0.2.7].each do |name|
        assert OpenSSL::SSL.verify_certificate_identity(certificate, name), name
      end
      refute OpenSSL::SSL.verify_certificate_identity(certificate, "other.test")
      assert certificate.check_private_key(OpenSSL::PKey.read(File.read("localhost.key")))
    end

    def test_only_the_user_may_read_the_keys
      dev_cert
      modes = ["localhost.key", "data/carat/authority.key"].map { |name| File.stat(name).mode & 0o777 }

      assert_equal [0o600, 0o600], modes
      assert_equal 0o700, File.stat("data/carat").mode & 0o777
    end

    def test_another_run_renews_the_certificate_and_keeps_the_authority
      dev_cert("shop.test", "2001:db8::7")
      authority = File.read("data/carat/authority.crt")
      first = read("localhost.crt")
      dev_cert

      refute_equal first.serial, read("localhost.crt").serial
      assert_equal authority, File.read("data/carat/authority.crt")
      assert_includes read("localhost.crt").to_text, "DNS:shop.test, IP Address:2001:DB8:0:0:0:0:0:7"
    end

    def test_files_of_somebody_else_are_not_replaced
      ["localhost.key", "localhost.crt"].each do |name|
        write(name, "mine")
        assert_equal 78, dev_cert
        assert_equal "mine", File.read(name)
        assert_match(/\Alocalhost\.\w+: not made by carat dev-cert; move it away first$/, @err.string)
      end
    end

    def test_a_name_that_cannot_be_in_a_certificate_is_refused
      ["a b", "DNS:x", "a,b"].each do |name|
        assert_equal 78, dev_cert(name)
        assert_match(/: not a host name or an IP address$/, @err.string)
      end
      refute_path_exists "localhost.crt"
    end

    def test_a_folder_that_cannot_be_made_is_one_line
      write("data", "a file")

      assert_equal 78, dev_cert
      assert_equal 1, @err.string.lines.size
      assert_match(/data/, @err.string)
    end

    private

    def dev_cert(*names)
      @out = StringIO.new
      @err = StringIO.new
      env = { "XDG_DATA_HOME" => path("data") }
      CLI::Program.new(["dev-cert", *names], env: env, out: @out, err: @err).run
    end

    def read(name)
      OpenSSL::X509::Certificate.new(File.read(name))
    end
  end
end
