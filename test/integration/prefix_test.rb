# frozen_string_literal: true

require "json"
require "test_helper"

# An application below a path: the option `prefix`.
class PrefixTest < Support::SharedServerTest
  KEYS = %w[SCRIPT_NAME PATH_INFO REQUEST_PATH REQUEST_URI QUERY_STRING].freeze
  APP = <<~RUBY
    require "json"
    run ->(env) { [200, { "content-type" => "text/plain" }, [env.values_at(*#{KEYS.inspect}).to_json]] }
  RUBY

  serves APP, args: %w[--prefix /app --static public --readiness-path /app/up --error-pages public],
              files: { "public/file.txt" => "file", "public/index.html" => "index", "public/404.html" => "page" }

  def test_the_prefix_is_the_script_name_and_the_rest_is_the_path
    { "/app/items?a=b" => ["/items", "/app/items", "/app/items?a=b", "a=b"],
      "/app/x/" => ["/x/", "/app/x/", "/app/x/", ""],
      "/app/../etc" => ["/../etc", "/app/../etc", "/app/../etc", ""],
      "/app/..;/x" => ["/..;/x", "/app/..;/x", "/app/..;/x", ""],
      "/app//app" => ["//app", "/app//app", "/app//app", ""],
      "/app/app" => ["/app", "/app/app", "/app/app", ""],
      "/app/%2e%2e/x" => ["/%2e%2e/x", "/app/%2e%2e/x", "/app/%2e%2e/x", ""] }.each do |target, expected|
      assert_equal ["/app", *expected], seen(target), target
    end
  end

  def test_the_prefix_itself_is_the_application
    client = connect
    client.request("POST", "/app?x=1", body: "a")

    assert_equal ["/app", "", "/app", "/app?x=1", "x=1"], JSON.parse(client.read_response.body)
  end

  def test_other_paths_are_not_found
    %w[/ /items /application /ap //app /APP /%61pp /app%2fitems /x/app/items /../app].each do |target|
      client = connect.request("GET", target)
      response = client.read_response
      assert_equal [404, "the path does not lead to the application\n"], [response.status, response.body], target
      assert_closed client
    end
  end

  def test_a_body_for_another_path_is_not_read
    client = connect.request("POST", "/items", body: "x" * 300_000)

    assert_equal 404, client.read_response.status
  end

  def test_an_absolute_target_and_the_whole_server
    absolute = connect.write("GET http://a.example/app/x HTTP/1.1\r\nHost: a\r\n\r\n").read_response
    assert_equal "/x", JSON.parse(absolute.body)[1]
    assert_equal 404, connect.write("GET http://a.example/x HTTP/1.1\r\nHost: a\r\n\r\n").read_response.status
    assert_equal 200, connect.write("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").read_response.status
  end

  def test_static_files_are_below_the_prefix
    assert_equal %w[file index index], %w[/app/file.txt /app /app/].map { |path| connect.get(path).body }
    assert_equal 404, connect.get("/file.txt").status
    assert_equal "/app", seen("/app/../file.txt").first
  end

  def test_a_page_for_other_paths_may_be_there
    assert_equal [404, "page"], connect.get("/", fields: { "Accept" => "text/html" }).then { |it| [it.status, it.body] }
  end

  def test_the_environment_of_rails_names_the_prefix
    app = 'run ->(_env) { [200, {}, [ENV["RAILS_RELATIVE_URL_ROOT"].to_s]] }'

    assert_equal "/shop", server(app: app, args: %w[--prefix /shop/ --warm-up /shop/]).start.get("/shop").body
    own = { "RAILS_RELATIVE_URL_ROOT" => "/own" }
    assert_equal "/own", server(app: app, args: %w[--prefix /shop], env: own).start.get("/shop").body
  end

  def test_a_redirect_to_https_keeps_the_prefix
    response = server(app: APP, args: %w[--prefix /app --force-tls]).start.get("/app/x", fields: { "Host" => "a" })

    assert_equal [308, "https://a/app/x"], [response.status, response["location"]]
  end

  private

  def seen(target)
    JSON.parse(connect.request("GET", target).read_response.body)
  end
end
