# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/tls/acme/folder"
require_relative "../../../../support/workplace"

module Carat
  class ACMEFolderTest < Minitest::Test
    include Support::Workplace

    def setup
      super
      @path = path("storage/authority")
      @folder = ACME::Folder.new(@path)
    end

    def test_it_is_private_also_when_it_was_not
      FileUtils.mkdir_p(@path, mode: 0o755)
      @folder.lock { @folder.account_key }

      assert_equal([0o700, 0o600], ["", "account.pem"].map { |name| File.stat(File.join(@path, name)).mode & 0o777 })
    end

    def test_one_has_it_at_a_time
      inner = nil
      outer = @folder.lock { inner = ACME::Folder.new(@path).lock { flunk } }

      assert_equal [true, false], [outer, inner]
    end

    def test_the_key_of_the_account_stays
      keys = Array.new(2) { @folder.lock { @key = @folder.account_key.to_jwk } && @key }

      assert_equal 1, keys.uniq.size
    end

    def test_an_answer_is_there_only_while_it_is_needed
      file = File.join(@path, "a.example/response")
      @folder.lock do
        assert_raises(RuntimeError) do
          @folder.answer("a.example", ["response", "x"]) do
            assert_equal "x", File.read(file)
            raise "no luck"
          end
        end
      end

      refute_path_exists file
    end

    def test_what_is_damaged_is_not_there
      FileUtils.mkdir_p(File.join(@path, "a.example"))
      { "status.json" => "{", "certificate.pem" => "-----BEGIN CERTIFICATE-----\n" }.each do |name, text|
        File.write(File.join(@path, "a.example", name), text)
      end

      assert_equal({}, @folder.status("a.example"))
      assert_nil @folder.certificate("a.example")
      File.write(File.join(@path, "a.example/status.json"), "[1]")
      assert_equal({}, @folder.status("a.example"))
    end
  end
end
