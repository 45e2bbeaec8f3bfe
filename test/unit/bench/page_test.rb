# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/lib/page"
require_relative "../../../bench/lib/roster"

class BenchPageTest < Minitest::Test
  PUMA = Bench::Roster.named(%w[puma]).first

  def test_the_server_gets_the_variables_of_the_application
    page = Bench::Page.new(environment: -> { { "BLOG_DATA" => "/here" } })

    assert_equal PUMA.environment.merge("BLOG_DATA" => "/here"), page.on(PUMA).environment
    refute_includes PUMA.environment, "BLOG_DATA"
    assert_same PUMA, Bench::Page.new.on(PUMA)
  end
end
