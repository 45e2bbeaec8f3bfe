# frozen_string_literal: true

require "test_helper"
require "carat/request/env_template"

module Carat
  class EnvTemplateTest < Minitest::Test
    def test_an_application_that_is_called_several_times_at_once_is_told_so
      assert_equal [false, true, true], [1, 3, 256].map { |capacity| constants(capacity:)["rack.multithread"] }
      assert_equal([false, true], [false, true].map { |several| constants(several:)["rack.multiprocess"] })
    end

    def test_what_all_requests_share_is_frozen
      shared = constants.reject { |name, _| name == "rack.errors" }.values
      assert_empty shared.reject(&:frozen?)
    end

    def test_the_mark_of_puma_can_be_called
      assert_nil constants.fetch("puma.mark_as_io_bound").call
    end

    def test_each_release_of_rack_gets_what_it_knows
      assert_equal [[1, 3], nil], %w[2.2.4 3.1.0].map { |release| constants(release:)["rack.version"] }
      assert_equal([false, true], %w[3.0.8 3.1.0].map { |release| template(release:).fetch(:asterisk) })
    end

    private

    def constants(**options)
      template(**options).fetch(:constants)
    end

    def template(release: "3.1.0", capacity: 1, several: false)
      Request::EnvTemplate.new(release:, capacity:, several:, spool_dir: "/var/tmp").to_h
    end
  end
end
