# frozen_string_literal: true

require "test_helper"

# Rails sends early hints for the tags that a page needs.
class RailsEarlyHintsTest < Support::ShopTest
  def test_tags_of_a_page_are_hinted
    client = ask(shop(args: %w[--early-hints], threads: 2), "GET", "/requests/hinted")
    responses = [client.read_response]
    responses << client.read_response until responses.last.status == 200
    links = responses[..-2].flat_map { |hints| hints.values("link") }.flat_map { |value| value.split(/,\s*(?=<)/) }

    assert_equal [103], responses[..-2].map(&:status).uniq
    assert_equal(%w[</a.css> </b.css> </c.js>], links.map { |link| link[/\A<[^>]+>/] })
    assert(links.all? { |link| link.include?("rel=preload") })
    assert_includes responses.last.body, "/a.css"
  end
end
