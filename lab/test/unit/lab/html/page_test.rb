# frozen_string_literal: true

require "digest"
require "minitest/autorun"
require "carat/lab/html/page"
require "carat/lab/html/table"

module Carat
  class PageTest < Minitest::Test
    SCRIPT = %r{<script>(.*?)</script>}m
    STYLE = %r{<style>(.*?)</style>}m

    def test_policy_names_the_only_script_and_the_only_style
      html = page("</script><style>")

      assert_equal [1, 1], [html.scan(SCRIPT).size, html.scan(STYLE).size]
      assert_includes policy(html), "script-src '#{digest(html[SCRIPT, 1])}';"
      assert_includes policy(html), "style-src '#{digest(html[STYLE, 1])}';"
    end

    def test_policy_allows_nothing_else
      assert_match(/\Adefault-src 'none';/, policy(page))
      refute_match(/unsafe|http|\*/, policy(page))
    end

    def test_page_refers_to_no_other_file
      refute_match(/\s(src|href)=|@import|url\(/, page.gsub(SCRIPT, ""))
    end

    def test_page_says_when_and_how_it_was_made
      html = page

      assert_match(%r{<dt>date</dt><dd>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}</dd>}, html)
      assert_includes html, "<dt>Ruby</dt><dd>#{CGI.escapeHTML(RUBY_DESCRIPTION)}</dd>"
      assert_match(%r{<dt>machine</dt><dd>.* \d+ processors</dd>}, html)
      assert_includes html, " - #{File.basename(Dir.pwd)}</title>"
    end

    def test_text_of_elsewhere_is_escaped
      html = page("<b>bold</b>")

      refute_includes html, "<b>"
      assert_includes html, "<p>&lt;b&gt;bold&lt;/b&gt;</p>"
    end

    def test_sums_of_a_table_stay_in_view
      table = Lab::Html::Table.new("gems", %w[gem MiB], [%w[rack 1], %w[rake 2], %w[sum 3]], sums: 1).to_s

      body, foot = table.split("</tbody>")
      assert_equal [%w[rack rake], %w[sum]], [body, foot].map { |part| part.scan(/rack|rake|sum/) }
      refute_includes Lab::Html::Table.new("gems", %w[gem MiB], [%w[rack 1]]).to_s, "tfoot"
    end

    private

    def page(text = "")
      Lab::Html::Page.new(text, lead: text, remarks: [text], facts: { text => text })
                     .tap { |page| page.section(text, text) }.to_s
    end

    def policy(html)
      html[/http-equiv="Content-Security-Policy" content="([^"]*)"/, 1]
    end

    def digest(text)
      "sha256-#{[Digest::SHA256.digest(text)].pack("m0")}"
    end
  end
end
