# frozen_string_literal: true

require "minitest/autorun"
require "carat/lab/html/markup"

module Carat
  class MarkupTest < Minitest::Test
    HOSTILE = "</script><script>alert(1)</script><!-- <script> & ]]> \u2028".freeze

    def test_data_contains_nothing_that_ends_the_element
      block = Lab::Html::Markup.data({ HOSTILE => [HOSTILE] })
      json = block.delete_prefix("<script type=\"application/json\">").delete_suffix("</script>")

      refute_match(/[<>&\u2028]/, json)
      assert_equal({ HOSTILE => [HOSTILE] }, JSON.parse(json))
    end

    def test_data_may_be_as_deep_as_a_stack
      data = 2000.times.reduce([]) { |inner, _| [inner] }

      assert_includes Lab::Html::Markup.data(data), "[" * 2000
    end

    def test_text_is_escaped_for_elements_and_attributes
      assert_equal "&lt;a&gt; &quot;b&quot; &#39;c&#39; &amp;", Lab::Html::Markup.text("<a> \"b\" 'c' &")
    end

    def test_bytes_that_are_no_text_are_replaced
      assert_equal "a\u{FFFD}b", Lab::Html::Markup.utf8("a\xFFb".b)
      assert_equal "ü", Lab::Html::Markup.text("ü".b)
    end
  end
end
