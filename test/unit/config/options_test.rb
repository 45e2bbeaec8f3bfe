# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/options"

module Carat
  class OptionsTest < Minitest::Test
    ROOT = File.expand_path("../../..", __dir__)

    SETTINGS = File.join(ROOT, "crates/carat-settings/src")

    def test_settings_of_the_edge_match_the_table
      beside = %i[chosen_connections identity version directory launch parts pid_file processes]

      assert_equal keys(nil), (fields("settings.rs", "Settings") - beside).sort
    end

    def test_sections_of_the_parts_match_their_options
      parts = fields("parts.rs", "PartSettings")
      types = File.read(File.join(SETTINGS, "parts.rs")).scan(/pub (\w+): (\w+Settings),/).to_h
      sections = parts.to_h { |part| [part, fields("parts.rs", types.fetch(part.to_s)).sort] }
      beside = { tls: %i[acme_command acme_folder] }

      assert_equal Parts.map { |part| part.class.key } - %i[init import doctor], parts
      assert_equal parts.to_h { |part| [part, (keys(part) + beside.fetch(part, [])).sort] }, sections
    end

    def test_names_flags_and_variables_are_unique
      %i[name flag short].each do |part|
        values = Config::Options.filter_map(&part)
        assert_equal values.uniq, values
      end
      variables = Config::Options.flat_map(&:variables)
      assert_equal variables.uniq, variables
    end

    def test_each_option_is_documented_in_one_sentence
      Config::Options.each do |option|
        assert_match(/\A[A-Z][^.]+\.\z/, option.doc, option.name)
      end
    end

    def test_each_default_is_a_value_of_its_type
      Config::Options.reject { |option| option.type == :file }.each do |option|
        option.parse(option.default)
      end
    end

    def test_variables_of_carat_win_over_common_ones
      assert_equal %w[CARAT_WORKERS WEB_CONCURRENCY], Config::Options.fetch(:workers).variables
      assert_equal %w[CARAT_ENVIRONMENT RACK_ENV RAILS_ENV], Config::Options.fetch(:environment).variables
    end

    def test_config_and_ready_fd_cannot_be_set_in_the_config_file
      assert_equal %i[config ready_fd], (Config::Options.to_a - Config::Options.from(:file)).map(&:name)
      assert_empty Config::Options.fetch(:ready_fd).variables
    end

    def test_option_that_does_not_exist_raises_key_error
      assert_raises(KeyError) { Config::Options.fetch(:wokers) }
    end

    private

    def keys(part)
      Config::Options.for_edge.select { |option| option.part == part }.map(&:key).sort
    end

    def fields(path, type)
      text = File.read(File.join(SETTINGS, path))[/struct #{type} \{(.*?)\n\}/m, 1]
      text.scan(/^ +pub (\w+):/).flatten.map(&:to_sym)
    end
  end
end
