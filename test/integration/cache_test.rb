# frozen_string_literal: true

require "json"
require "test_helper"

# Public responses that the edge keeps: the option `cache`.
class CacheTest < Support::IntegrationTest
  include Support::ControlledServer

  # Responds as the query says; counts the requests for each path in the body, and records them.
  APP = <<~'RUBY'
    require "uri"
    COUNTS = Hash.new(0)
    run(lambda do |env|
      query = URI.decode_www_form(env["QUERY_STRING"]).to_h
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
      sleep 0.005 until !(query.key?("gate") || File.exist?("held")) || File.exist?("gate")
      count = COUNTS[env["PATH_INFO"]] += 1
      fields = { "content-type" => "text/plain", "cache-control" => query["cc"] || "public, max-age=3600" }
      query.each { |name, value| fields[name] = value if name.match?(/\A(etag|vary|set-cookie|location|age)\z/) }
      fields["cache-control"] = "private" if File.exist?("private")
      status = (File.exist?("down") ? 503 : query.fetch("status", 200)).to_i
      status = 304 if query["etag"] && env["HTTP_IF_NONE_MATCH"] == query["etag"]
      language = env["HTTP_ACCEPT_LANGUAGE"]
      body = "#{count} #{language} #{env["HTTP_X_FORWARDED_HOST"]}".strip + "." * query["size"].to_i
      [status, fields, status == 304 ? [] : [body]]
    end)
  RUBY
  PUBLIC = "/page"

  def test_a_public_response_is_sent_again_with_its_age
    server = start
    first, second = Array.new(2) { server.get(PUBLIC) }

    assert_equal [%w[1 1], [nil, "0"]], [[first, second].map(&:body), [first, second].map { |it| it["age"] }]
    assert_equal ["carat; fwd=miss; stored", "carat; hit"], [first, second].map { |it| it["cache-status"] }
    assert_equal second["date"], first["date"]
    head = ask(server, "HEAD", PUBLIC).read_response(head: true)
    assert_equal [200, "1", "carat; hit"], [head.status, head["content-length"], head["cache-status"]]
    assert_equal 1, arrivals(server)
  end

  def test_the_cache_answers_over_http_2_as_well
    server = start
    url = server.urls.first + PUBLIC
    Support::Curl.get(url)
    reply = Support::Curl.get(url, "--http2-prior-knowledge")
    part = Support::Curl.get(url, "--http2-prior-knowledge", "--range", "0-0")

    assert_equal ["HTTP/2 200", "1", "carat; hit"], [reply.status_line, reply.body, reply["cache-status"]]
    assert_equal ["HTTP/2 206", "1"], [part.status_line, part.body]
    assert_equal 1, arrivals(server)
  end

  def test_what_is_not_public_goes_to_the_application_each_time
    server = start
    ["cc=max-age=10", "cc=private,max-age=10", "cc=public,max-age=10,no-store", "cc=public", "set-cookie=a%3D1",
     "vary=*", "status=500", "status=403"].each_with_index do |query, index|
      bodies = Array.new(2) { server.get("/#{index}?#{query}").body }
      assert_equal %w[1 2], bodies, query
    end
    assert_equal %w[1 2], Array.new(2) { server.request("POST", "/post").body }
  end

  def test_a_page_that_does_not_name_accept_is_sent_to_who_takes_its_type
    server = start
    get = ->(path, **fields) { server.get(path, fields: fields.transform_keys(&:to_s)).body }
    assert_equal "1", get.(PUBLIC)
    assert_equal %w[2 2], Array.new(2) { get.(PUBLIC, Accept: "application/json") }
    ["text/html, */*;q=0.1", "text/*", "text/plain"].each { |accept| assert_equal "1", get.(PUBLIC, Accept: accept) }
    assert_equal "3", get.(PUBLIC, Accept: "text/plain;q=0, */*")
    %w[HX-Request X-Inertia X-PJAX].each { |name| assert_operator get.(PUBLIC, name => "true").to_i, :>, 3, name }
    assert_equal %w[1 2], [get.("/planted", Accept: "application/json"), get.("/planted", Accept: "*/*")]
  end

  def test_requests_for_a_page_that_is_missing_wait_for_one_of_them
    server = start
    clients = Array.new(20) { ask(server, "GET", "/page?gate") }
    await_arrivals(server, 1)
    eventually(message: "the wait of the others") { cache(server)["misses"] == 1 && connections(server) >= 20 }
    server.gate.open
    responses = clients.map(&:read_response)

    assert_equal [[200, "1"]], responses.map { |it| [it.status, it.body] }.uniq
    assert_equal 1, arrivals(server)
    assert_equal [19, 19], cache(server).values_at("hits", "collapsed")
  end

  # The disk has to say that there is no such file.
  def test_a_page_beside_static_files_is_kept_and_awaited_from_its_first_request_on
    server = start(args: %w[--cache 16MB --static public], files: { "public/shop/logo.txt" => "logo" })
    clients = Array.new(5) { ask(server, "GET", "/shop/page?gate") }
    await_arrivals(server, 1)
    eventually(message: "the wait of the others") { cache(server)["misses"] == 1 && connections(server) >= 5 }
    server.gate.open

    assert_equal ["1"], clients.map { |client| client.read_response.body }.uniq
    assert_equal ["carat; hit", 1], [server.get("/shop/page?gate")["cache-status"], arrivals(server)]
  end

  def test_those_that_waited_for_what_cannot_be_stored_go_on_at_once_and_all
    server = start(threads: 8)
    leader = ask(server, "GET", "/mine?cc=private&gate")
    await_arrivals(server, 1)
    followers = Array.new(6) { ask(server, "GET", "/mine?cc=private&gate") }
    server.gate.open
    bodies = [leader, *followers].map { |client| client.read_response.body }

    assert_equal (1..7).map(&:to_s), bodies.sort
  end

  def test_a_client_that_leaves_does_not_leave_the_others_waiting
    server = start
    leader = ask(server, "GET", "/page?gate")
    await_arrivals(server, 1)
    followers = Array.new(3) { ask(server, "GET", "/page?gate") }
    eventually(message: "their wait") { connections(server) >= 4 }
    see_edge_go_round(server)
    leader.close
    await_arrivals(server, 2)
    server.gate.open

    assert_equal 1, followers.map { |client| client.read_response.body }.uniq.size
    assert_equal 2, arrivals(server)
  end

  def test_a_stale_response_is_confirmed_by_its_tag
    server = start
    target = "/?etag=%22x%22&cc=public,max-age%3D0,must-revalidate"
    replies = Array.new(3) { server.get(target) }

    assert_equal [%w[1 1 1], 3], [replies.map(&:body), arrivals(server)]
    assert_equal "carat; fwd=stale; fwd-status=304; stored", replies.last["cache-status"]
    assert_equal [2, 1], cache(server).values_at("revalidated", "entries")
    has_it = server.get(target, fields: { "If-None-Match" => '"y", W/"x"' })
    assert_equal [304, "", '"x"'], [has_it.status, has_it.body, has_it["etag"]]
  end

  def test_ranges_come_out_of_the_whole_page
    server = start
    whole = server.get("/?size=200000").body
    one = server.get("/?size=200000", fields: { "Range" => "bytes=0-2" })
    several = server.get("/?size=200000", fields: { "Range" => "bytes=0-1,100-101" })
    none = server.get("/?size=200000", fields: { "Range" => "bytes=300000-" })

    assert_equal [206, whole[0..2], "bytes 0-2/200001"], [one.status, one.body, one["content-range"]]
    assert_includes several.body, "content-range: bytes 100-101/200001\r\n\r\n.."
    assert_equal [416, "bytes */200001"], [none.status, none["content-range"]]
    assert_equal 1, arrivals(server)
  end

  def test_a_change_removes_the_page_and_those_that_the_response_names
    server = start
    %w[/page /other /third].each { |path| server.get(path) }
    server.request("POST", "/page?location=/other")
    server.request("POST", "/third?status=500")
    server.request("DELETE", "/page")

    assert_equal %w[4 2 1], (%w[/page /other /third].map { |path| server.get(path).body })
  end

  def test_stale_pages_are_fetched_in_the_background_by_a_bounded_number
    server = start(threads: 20)
    targets = Array.new(20) { |number| "/#{number}?age=100&cc=public,max-age%3D10,stale-while-revalidate%3D3600" }
    targets.each { |target| server.get(target) }
    server.directory.write("held", "")

    assert_equal [200], targets.map { |target| server.get(target).status }.uniq
    assert_equal [16, 0], status(server).values_at("running", "waiting")
    server.gate.open
  end

  def test_a_stale_page_is_sent_when_the_application_fails_and_may_not_be_otherwise
    server = start
    lenient = "/a?age=100&cc=public,max-age%3D10,stale-if-error%3D3600"
    strict = "/b?age=100&cc=public,max-age%3D10,must-revalidate"
    [lenient, strict].each { |target| server.get(target) }
    server.directory.write("down", "")

    responses = [lenient, strict].map { |target| server.get(target) }
    assert_equal [[200, "1"], [503, "2"]], (responses.map { |it| [it.status, it.body] })
  end

  def test_each_coding_is_made_once_and_the_plain_page_stays
    server = start(args: %w[--cache 16MB --compress])
    target = "/?size=50000&etag=%22x%22"
    plain = server.get(target)
    coded = Array.new(3) { server.get(target, fields: { "Accept-Encoding" => "gzip" }) }

    assert_equal [nil, 50_001], [plain["content-encoding"], plain.body.bytesize]
    assert_equal ["gzip"], coded.map { |it| it["content-encoding"] }.uniq
    assert_equal [1, ['W/"x"']], [coded.map(&:body).uniq.size, coded.map { |it| it["etag"] }.uniq]
    assert_equal [50_001, 1], [server.get(target).body.bytesize, arrivals(server)]
    assert_in_delta 52_000, cache(server)["used"], 2_000
  end

  def test_new_code_begins_with_an_empty_cache
    server = start
    server.get(PUBLIC)
    assert_equal 1, cache(server)["entries"]
    carat(server, "restart")

    assert_equal [0, "carat; fwd=miss; stored"], [cache(server)["entries"], server.get(PUBLIC)["cache-status"]]
  end

  def test_the_cache_holds_no_more_than_it_may_and_what_is_used_stays
    server = start(args: %w[--cache 1MB])
    client = server.connect
    400.times do |number|
      assert_equal "1", client.get("/popular").body
      client.get("/#{number}?size=30000")
    end
    too_large = Array.new(2) { client.get("/large?size=70000").body.to_i }

    report = cache(server)
    assert_operator report["used"], :<=, report["limit"]
    assert_operator report["evictions"], :>, 300
    assert_equal [1, 2], too_large
    assert_match(/^the cache holds \d\.\d of at most 1\.0 \(cache\)$/, carat(server, "memory").first)
    assert_match(/^cache: \d+ responses, \d\.\d of 1\.0 MiB; 399 hits,/, carat(server, "status").first)
  end

  def test_without_the_option_and_in_development_nothing_is_kept
    off = serve(APP, args: [])
    reloading = serve(APP, args: %w[--cache 16MB --reload])

    assert_equal [%w[1 2]] * 2, ([off, reloading].map { |server| Array.new(2) { server.get(PUBLIC).body } })
  end

  private

  def start(args: %w[--cache 16MB], **options)
    serve(APP, args: args + ["--control-socket", "carat.sock"], **options)
  end

  def arrivals(server)
    server.gate.arrivals.size
  end

  def cache(server)
    status(server).fetch("cache")
  end

  def connections(server)
    status(server).fetch("connections")
  end
end
