# frozen_string_literal: true

require "test_helper"

class WeightExampleTest < Support::SharedServerTest
  EXAMPLE = File.expand_path("../../examples/weight", __dir__)

  serves nil, workers: 1, threads: 1, args: ["-C", "#{EXAMPLE}/carat.rb", "#{EXAMPLE}/config.ru"]

  def test_what_is_loaded_weighs_about_40_mb_and_is_shared
    get("/")
    figures = weight
    assert_includes 30_000..120_000, figures["Rss"]
    assert_operator figures["Shared_Dirty"], :>, figures["Private_Dirty"]
  end

  private

  # Figures by name.
  def weight
    get("/weight").scan(/^(\w+): +(\d+)/).to_h { |name, figure| [name, figure.to_i] }
  end

  def get(path)
    response = server.get(path)
    assert_equal 200, response.status, response.body
    response.body
  end
end
