# frozen_string_literal: true

require "rexml/document"
require "support/shared_server_test"
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

  def test_markup_of_a_comment_is_text
    comment({ name: "\"><script>alert(1)</script>", text: "<img src=x onerror=alert(2)> '; drop table comments; --" })
    body = page(ARTICLE)

    assert_includes body, "&lt;img src=x onerror=alert(2)&gt; &#39;; drop table comments; --"
    refute_match(/<script|<img/, body)
  end

  def test_refused_comment_says_why_and_keeps_what_was_written
    response = comment({ name: "x" * 61, text: "  \r\n" })

    assert_equal 422, response.status
    assert_includes response.body, "That is too long: 61 characters, 60 at most."
    assert_includes response.body, "Please write something."
    assert_includes response.body, "value=\"#{"x" * 61}\""
    refute_includes page(ARTICLE), "x" * 61
  end

  def test_unknown_pages_and_articles_are_404
    ["/articles/none", "/articles/%00", "/articles/", "/none", "/blog_database.rb"].each do |path|
      response = server.get(path)
      assert_equal 404, response.status, path
      assert_includes response.body, "There is nothing here"
    end
    assert_equal 404, server.request("POST", "/articles/none/comments", fields: FORM, body: "name=a&text=b").status
    assert_equal 405, server.request("DELETE", ARTICLE).status
  end

  def test_feed_is_xml_with_an_entry_for_each_article
    response = server.get("/feed.atom", fields: { "Host" => "blog.test" })
    feed = REXML::Document.new(utf8(response))
    entries = feed.get_elements("/feed/entry")

    assert_equal "application/atom+xml; charset=utf-8", response["Content-Type"]
    assert_equal 5, entries.size
    assert_equal "http://blog.test/articles/the-map-in-the-drawer", entries.first.elements["link"]["href"]
    assert_equal "2026-06-21T15:55:00Z", feed.elements["/feed/updated"].text
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
