# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/weigh/gem_names"

module Carat
  class GemNamesTest < Minitest::Test
    Specification = Struct.new(:name, :full_gem_path, :extension_dir, :files)
    RUBY = { "rubylibdir" => "/usr/lib/ruby/3.1.0", "rubyarchdir" => "/usr/lib/arch/ruby/3.1.0",
             "vendorarchdir" => "/usr/lib/arch/vendor", "vendorlibdir" => "/usr/lib/ruby/vendor_ruby/3.1.0",
             "vendordir" => "/usr/lib/ruby/vendor_ruby" }.freeze

    def test_file_belongs_to_the_loaded_gem_whose_directory_holds_it
      assert_equal "rack", gem_of("/gems/rack-2.2.4/lib/rack.rb")
      assert_equal "rack", gem_of("/extensions/rack-2.2.4/rack.so")
      assert_equal "nested", gem_of("/gems/rack-2.2.4/vendor/nested/lib/nested.rb")
    end

    def test_file_of_a_gem_that_is_not_activated_is_known_by_its_directory
      assert_equal "rack-test", gem_of("/elsewhere/gems/rack-test-2.0.2/lib/rack/test.rb")
    end

    def test_files_of_ruby_of_a_distribution_and_of_the_application
      assert_equal "(ruby)", gem_of("/usr/lib/ruby/3.1.0/json.rb")
      assert_equal "(ruby)", gem_of("/usr/lib/arch/ruby/3.1.0/json/ext/parser.so")
      assert_equal "mail", gem_of("/usr/lib/ruby/vendor_ruby/mail.rb")
      assert_equal "mail", gem_of("/usr/lib/ruby/vendor_ruby/mail/body.rb")
      assert_equal "(application)", gem_of("/srv/app/lib/thing.rb")
      assert_equal "(other)", gem_of("/opt/thing.rb")
      assert_equal "(other)", gem_of("no_such_library")
    end

    def test_file_of_a_distribution_belongs_to_the_gem_that_lists_it
      assert_equal "net-ldap", gem_of("/usr/lib/ruby/vendor_ruby/net/ldap.rb")
      assert_equal "net", gem_of("/usr/lib/ruby/vendor_ruby/net/other.rb")
    end

    private

    def gem_of(path)
      specifications = [Specification.new("rack", "/gems/rack-2.2.4", "/extensions/rack-2.2.4", []),
                        Specification.new("nested", "/gems/rack-2.2.4/vendor/nested", "/extensions/nested", []),
                        Specification.new("net-ldap", "/none/net-ldap-1", "/none", ["README.md", "lib/net/ldap.rb"])]
      Lab::Weigh::GemNames.new("/srv/app", specifications:, ruby: RUBY).of(path)
    end
  end
end
