# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/import/import"
require "puma"
require "puma/configuration"

module Carat
  class PumaDSLTest < Minitest::Test
    # The methods that Puma 8.0 has and older versions do not.
    NEW_IN_PUMA = %i[
      after_booted after_refork after_stopped after_worker_shutdown allow_underscore_headers before_refork
      before_restart before_thread_exit before_thread_start before_worker_boot before_worker_fork
      before_worker_shutdown cluster custom_logger enable_keep_alives fiber_per_request
      http_content_length_limit idle_timeout max_io_threads max_keep_alive on_booted on_stopped
      on_thread_exit on_thread_start silence_fork_callback_warning single supported_http_methods
    ].freeze
    CARAT = [*CLI::Import::PumaDSL::OPTIONS.values.map(&:first), *CLI::Import::PumaDSL::HOOKS.values].freeze

    def test_every_method_of_the_installed_puma_is_known
      assert_empty ::Puma::DSL.public_instance_methods(false) - CLI::Import::PumaDSL::NAMES
    end

    def test_every_method_of_later_versions_is_known
      assert_empty NEW_IN_PUMA - CLI::Import::PumaDSL::NAMES
    end

    def test_no_method_is_listed_twice
      assert_equal CLI::Import::PumaDSL::NAMES.uniq, CLI::Import::PumaDSL::NAMES
    end

    def test_options_and_hooks_are_those_of_carat
      assert_empty CARAT.uniq - Config::Options.from(:file).map(&:name) - Config::Hooks::TABLE.keys
    end
  end
end
