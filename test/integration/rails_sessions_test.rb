# frozen_string_literal: true

require "test_helper"
require "uri"

# What Rails keeps about a visitor: the session, the flash, and the token that a form must send back.
class RailsSessionsTest < Support::ShopTest
  def test_each_visitor_has_a_session
    server = shop(threads: 2)
    anna, ben = visitor(server), visitor(server)

    assert_equal([1, 2, 1, 3], [anna, anna, ben, anna].map { |someone| visits(someone) })
    assert_equal "index", anna.cookies["last"]
  end

  def test_a_session_outlives_its_worker_and_its_server
    server = shop(workers: 2, threads: 1)
    anna = visitor(server)
    visits(anna)
    Process.kill(:KILL, *server.workers.values)
    assert_equal 2, visits(anna)
    server.stop
    anna.server = shop

    assert_equal 3, visits(anna)
    anna.server = puma
    assert_equal 4, visits(anna)
  end

  def test_a_form_without_its_token_is_refused
    server = shop(threads: 2)
    anna, ben = visitor(server), visitor(server)

    assert_equal 422, create(anna, "forged").status
    assert_equal 422, create(ben, anna.token).status
    assert_equal [422, "<h1>422: refused</h1>\n"], create(anna, nil).then { |refused| [refused.status, refused.body] }
    saved = create(anna, anna.token)
    assert_equal [302, "http://localhost/items/1"], [saved.status, saved["location"]]
    assert_includes anna.request("GET", "/items").body, "<p>Saved</p>"
    refute_includes anna.request("GET", "/items").body, "Saved"
  end

  def test_a_token_in_a_header_and_a_token_of_a_form_of_its_own
    anna = visitor(shop(threads: 2))
    create(anna, anna.token)
    changed = anna.request("PATCH", "/items/1", fields: FORM.merge("X-CSRF-Token" => anna.token),
                                                body: "item[name]=new")
    assert_equal [204, "new"], [changed.status, anna.request("GET", "/items/1").body]

    token = anna.request("GET", "/items").body[%r{action="/items/1".*?value="([^"]+)"}m, 1]
    ended = anna.request("POST", "/items/1", fields: FORM, body: form(_method: "delete", authenticity_token: token))
    assert_equal [303, 1], [ended.status, visits(anna)]
  end

  private

  def puma
    Support::PumaServer.new(files: Support::Shop::FILES, app: Support::Shop::FILES["config.ru"],
                            env: { "RAILS_ENV" => "production" }).tap { |server| @servers << server }.start
  end

  def visits(someone)
    response = someone.request("GET", "/items")
    assert_equal 200, response.status, response.body
    response.body[/Visit (\d+)/, 1].to_i
  end

  def create(someone, token)
    body = form({ "item[name]" => "nut", authenticity_token: token }.compact)
    someone.request("POST", "/items", fields: FORM.merge("Origin" => "http://localhost"), body: body)
  end

  def form(fields)
    URI.encode_www_form(fields)
  end
end
