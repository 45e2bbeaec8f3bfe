# frozen_string_literal: true

require "test_helper"

# Rails below a path.
class RailsPrefixTest < Support::ShopTest
  def test_links_and_assets_have_the_prefix_once
    server = shop(args: %w[--prefix /shop], threads: 2)
    seen = json(server.get("/shop/requests/show?a=1"))
    assert_equal ["/shop", "/requests/show", "/shop/requests/show?a=1"],
                 seen.values_at("SCRIPT_NAME", "PATH_INFO", "fullpath")

    page = server.get("/shop/requests/prefixed").body
    assert_equal "/shop/items /shop/items/1 /shop/a.css", page
    assert_equal 404, server.get("/requests/show").status
  end

  def test_a_form_works_below_the_prefix
    visitor = visitor(shop(args: %w[--prefix /shop]))
    token = visitor.request("GET", "/shop/items").body[/name="csrf-token" content="([^"]+)"/, 1]
    body = URI.encode_www_form("authenticity_token" => token, "item[name]" => "one")
    response = visitor.request("POST", "/shop/items", fields: FORM, body: body)

    assert_equal 302, response.status, response.body
    assert_match(%r{\Ahttp://localhost/shop/items}, response["location"])
  end
end
