# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/configuration"
require "carat/launch/shared_options"
require_relative "../../support/workplace"

module Carat
  class SharedOptionsTest < Minitest::Test
    include Support::Workplace

    def test_values_of_one_configuration_hold_in_another
      before = configuration("workers=2..4", "fibers=16", "log_format=json", "boot_timeout=1.5")
      variables = variables_of(before)
      after = configuration("threads=7").with(Launch::SharedOptions.values(variables))

      %i[workers fibers threads log_format boot_timeout spool_dir].each do |name|
        assert_equal [before[name]], [after[name]], name
      end
    end

    def test_option_without_a_value_stays_without_one
      variables = variables_of(configuration)

      assert_nil configuration("fibers=16").with(Launch::SharedOptions.values(variables))[:fibers]
    end

    def test_application_does_not_see_the_variable
      variables = variables_of(configuration)
      Launch::SharedOptions.restore(variables)

      assert_empty variables
      assert_empty Launch::SharedOptions.values(variables)
    end

    private

    def variables_of(configuration)
      Launch::SharedOptions.variables { |option| configuration[option.name] }
    end

    def configuration(*words)
      Config::Configuration.from_words(words, env: {})
    end
  end
end
