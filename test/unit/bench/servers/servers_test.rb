# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../bench/lib/bench"

class BenchServersTest < Minitest::Test
  PUMA = Bench::Servers.named(%w[puma]).first

  def test_every_case_names_servers_of_the_table
    assert(Bench::Cases::ALL.all? { |kase| kase.specs.all?(Bench::ServerSpec) })
  end

  def test_unknown_cases_and_servers_are_refused
    assert_raises(Bench::Failure) { Bench::Cases.named(%w[hello helo]) }
    assert_raises(Bench::Failure) { Bench::Servers.checked(%w[pumma]) }
    assert_equal %w[puma], Bench::Servers.checked(%w[puma])
  end

  def test_a_server_gets_the_variables_of_the_application
    with_data = PUMA.with_env("BLOG_DATA" => "/here")

    assert_equal PUMA.environment.merge("BLOG_DATA" => "/here"), with_data.environment
    refute_includes PUMA.environment, "BLOG_DATA"
  end
end
