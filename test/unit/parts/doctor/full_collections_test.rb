# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/configuration"
require "carat/parts/doctor/memory/full_collections"
require "support/workplace"

module Carat
  class FullCollectionsTest < Minitest::Test
    include Support::Workplace

    APP = "run ->(_env) { [200, {}, []] }\n"
    Configured = Struct.new(:options, :collector_variables) do
      def [](name) = options.fetch(name)
    end

    def test_they_run_between_requests_from_ruby_3_4_on
      sentence = finding(APP)
      expected = RUBY_VERSION < "3.4" ? /within requests: Ruby 3.* has no switch/ : /\Athey run between requests\z/
      assert_match expected, sentence
    end

    def test_what_the_user_decides_is_named
      assert_match(/within requests: gc is not "frugal"/, finding(APP, gc: "ruby"))
      assert_match(/within requests: RUBY_GC_MALLOC_LIMIT in the/, finding(APP, variables: ["RUBY_GC_MALLOC_LIMIT"]))
    end

    def test_what_the_application_decides_is_named
      skip "Ruby #{RUBY_VERSION} has no switch for full collections: 3.4 has" if RUBY_VERSION < "3.4"

      assert_match(/within requests: .*\(GC\.disable\)/, finding("GC.disable\n#{APP}"))
      assert_match(/within requests: .*\(GC\.config\)/, finding("GC.config(rgengc_allow_full_mark: false)\n#{APP}"))
      assert_match(/\Aunknown/, finding("raise 'no'"))
    end

    private

    def finding(app, gc: "frugal", variables: [])
      write("config.ru", app)
      options = { gc:, rackup: path("config.ru"), boot_timeout: 60 }
      CLI::Doctor::FullCollections.new(Configured.new(options, variables)).finding.sentence
    end
  end
end
