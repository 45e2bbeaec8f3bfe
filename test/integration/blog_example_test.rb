# frozen_string_literal: true

require "test_helper"
require "uri"

class BlogExampleTest < Support::SharedServerTest
  EXAMPLE = File.expand_path("../../examples/blog", __dir__)
  ARTICLE = "/articles/bread-for-people-who-forget"
  FORM = { "Content-Type" => "application/x-www-form-urlencoded" }.freeze

  serves nil, workers: 2, threads: 2, args: ["#{EXAMPLE}/config.ru"], env: { "BLOG_DATA" => "data/blog" }

  def test_index_lists_the_articles_with_the_newest_first
    body = page("/")

    assert_operator body.index("The map in the drawer"), :<, body.index("The kettle that sang")
    assert_includes body, "21 June 2026"
    assert_includes body, "4 comments"
  end

  def test_comment_is_shown_where_its_answer_leads
    response = comment({ name: "Zoë & co", text: "One\r\n\r\nTwo" }, article: "/articles/the-map-in-the-drawer")

    assert_equal 303, response.status
    path, anchor = response["Location"].split("#")
    body = page(path)
    assert_includes body, "id=\"#{anchor}\""
    assert_includes body, "<b>Zoë &amp; co</b>"
    assert_includes body, "<p>One</p>\n<p>Two</p>"
    assert_includes body, "1 comment</h2>"
  end

  def test_comment_is_seen_by_every_worker
    await_workers(server, 2)
    comment({ name: "Ada", text: "seen by both" })

    8.times { assert_includes page(ARTICLE), "seen by both" }
  end

  private

  def page(path)
    response = server.get(path)
    assert_equal 200, response.status, response.body
    utf8(response)
  end

  def utf8(response)
    response.body.dup.force_encoding(Encoding::UTF_8).tap { |body| assert_predicate body, :valid_encoding? }
  end

  def comment(fields, article: ARTICLE)
    server.request("POST", "#{article}/comments", fields: FORM, body: URI.encode_www_form(fields))
  end
end
