# frozen_string_literal: true

require "test_helper"

# Rails in development: it reloads changed code by itself, and shows errors with their place.
class RailsDevelopmentTest < Support::ShopTest
  CONTROLLER = "app/controllers/items_controller.rb"
  VIEW = "app/views/items/index.html.erb"
  ROUTES = "config/routes.rb"

  def test_changed_code_serves_the_next_request
    in_threads_and_fibers do |options|
      @server = shop("development", **options)
      assert_includes page("/items"), "Visit 1"
      pids = @server.children

      change(VIEW, "Visit", "Call")
      assert_includes page("/items"), "Call 1"
      change(CONTROLLER, "to_i + 1", "to_i + 2")
      assert_includes page("/items"), "Call 2"
      change("app/models/item.rb", "Process.pid", '"the changed file"')
      assert_equal "the changed file", json(@server.get("/workers/show")).fetch("loaded_by")
      assert_equal pids, @server.children
    end
  end

  def test_new_files_and_routes_serve_the_next_request
    @server = shop("development", threads: 2)
    assert_equal 404, @server.get("/news").status

    @server.directory.write("app/controllers/news_controller.rb", <<~RUBY)
      class NewsController < ApplicationController
        def index = render(plain: "new")
      end
    RUBY
    change(ROUTES, "resources :items\n", "resources :items, :news\n")
    assert_equal "new", page("/news")
  end

  def test_an_error_is_a_page_with_its_place_and_goes_with_it
    @server = shop("development", threads: 2)

    assert_error(/RuntimeError.*broken on purpose.*requests_controller\.rb/m, "/requests/broken")
    assert_error(/Couldn.+t find Item with.*items_controller\.rb/m, "/items/99", 404)
    assert_error(/No route matches.*nowhere/m, "/nowhere", 404)
    { CONTROLLER => "def index", VIEW => "<h1>" }.each do |file, place|
      change(file, place, place == "<h1>" ? "<h1><% if %>" : "def index(")
      assert_error(/SyntaxError.*#{file}/m, "/items")
      change(file, place == "<h1>" ? "<h1><% if %>" : "def index(", place)
      assert_includes page("/items"), "Visit 1"
    end
  end

  def test_code_that_changes_while_requests_run_serves_all
    @server = shop("development", threads: 3)
    10.times do |number|
      clients = Array.new(6) { ask(@server, "GET", "/items") }
      change(VIEW, %r{<h1>.*</h1>}, "<h1>Change #{number}</h1>")
      assert_equal [200] * 6, (clients.map { |client| client.read_response.status })
      assert_includes page("/items"), "Change #{number}"
    end
  end

  private

  # Rails finds changes by the time of a file, in whole nanoseconds, and its size.
  def change(file, old, new)
    @server.directory.write(file, @server.directory.read(file).sub(old, new))
  end

  def page(path)
    response = @server.get(path)
    assert_equal 200, response.status, response.body
    response.body.force_encoding(Encoding::UTF_8)
  end

  def assert_error(pattern, path, status = 500)
    response = @server.get(path)
    assert_equal status, response.status
    assert_match pattern, response.body.force_encoding(Encoding::UTF_8)
  end
end
