# frozen_string_literal: true

require "test_helper"

# Parts of a file that the application has named: RFC 9110, sections 13.1.5 and 14.
class HttpRangeTest < Support::SharedServerTest
  CONTENT = Array.new(2000) { |line| format("%05d\n", line) }.join.freeze # 12 000 bytes
  DATE = "Sat, 21 Nov 2026 10:00:00 GMT"

  APP = <<~'RUBY'
    require "rack"

    Named = Struct.new(:to_path) do
      def each
        yield "read by each"
      end
    end
    kept = { "content-type" => "text/plain", "etag" => '"one"', "last-modified" => "Sat, 21 Nov 2026 10:00:00 GMT",
             "cache-control" => "max-age=60", "x-kept" => "yes" }
    own = { "content-range" => "bytes 0-3/9", "content-length" => "4" }
    named = ->(status, headers) { [status, headers.dup, Named.new("content")] }
    files = Rack.const_defined?(:Files) ? Rack::Files.new(".") : Rack::File.new(".")
    answers = {
      "/named" => ->(_env) { named.call(200, kept) },
      "/untyped" => ->(_env) { named.call(200, {}) },
      "/weak" => ->(_env) { named.call(200, kept.merge("etag" => 'W/"one"')) },
      "/digest" => ->(_env) { named.call(200, "content-digest" => "of all bytes") },
      "/short" => ->(_env) { named.call(200, "content-length" => "100") },
      "/none" => ->(_env) { named.call(200, "accept-ranges" => "none") },
      "/own" => ->(_env) { named.call(206, own) },
      "/odd" => ->(_env) { named.call(200, own) },
      "/404" => ->(_env) { named.call(404, {}) },
      "/string" => ->(_env) { [200, {}, ["x" * 100_000]] },
      "/each" => ->(_env) { [200, {}, Enumerator.new { |pieces| pieces << "one" }] },
      "/files" => ->(env) { files.call(env.merge("PATH_INFO" => "/content")) }
    }
    run ->(env) { answers.fetch(env["PATH_INFO"]).call(env) }
  RUBY

  serves APP, files: { "content" => CONTENT }

  def test_a_file_says_that_it_has_ranges
    response = server.get("/named")

    assert_equal [200, "bytes", nil], [response.status, response["accept-ranges"], response["content-range"]]
    assert_equal CONTENT, response.body
  end

  def test_one_range_is_a_part
    { "0-5" => 0..5, "5-5" => 5..5, "11995-" => 11_995..11_999, "-6" => 11_994..11_999, "0-" => 0..11_999,
      "-99999" => 0..11_999, "100-99999" => 100..11_999, "7-99999999999999999999999" => 7..11_999 }
      .each do |asked, range|
        response = ranged("bytes=#{asked}")

        assert_equal [206, "bytes #{range.begin}-#{range.end}/12000", range.size.to_s, "text/plain", "yes"],
                     [response.status, *fields(response, "content-range", "content-length", "content-type", "x-kept")]
        assert_equal CONTENT[range], response.body, asked
      end
  end

  def test_several_ranges_are_several_parts_in_their_order
    response = ranged("bytes=6000-6005, 0-5,-6,20000-")
    boundary = response["content-type"][%r{\Amultipart/byteranges; boundary=(\h{32})\z}, 1]
    parts = [6000..6005, 0..5, 11_994..11_999].map do |range|
      "\r\n--#{boundary}\r\ncontent-type: text/plain\r\ncontent-range: bytes #{range.begin}-#{range.end}/12000\r\n" \
        "\r\n#{CONTENT[range]}"
    end

    assert_equal [206, nil], [response.status, response["content-range"]]
    assert_equal "#{parts.join}\r\n--#{boundary}--\r\n", response.body
    assert_equal response.body.bytesize, response.content_length
  end

  def test_the_digest_of_all_bytes_is_not_that_of_a_part
    answers = [nil, "bytes=0-1", "bytes=0-1,5-6", "bytes=12000-"].map { |asked| ranged(asked, "/digest") }

    assert_equal ["of all bytes", nil, nil, nil], answers.map { |response| response["content-digest"] }
  end

  def test_too_many_ranges_get_the_whole
    assert_whole ranged("bytes=#{(["0-0"] * 33).join(",")}")
  end

  def test_a_range_behind_the_end_is_416
    ["bytes=12000-", "bytes=-0", "bytes=99999999999999999999-,12000-13000"].each do |asked|
      response = ranged(asked)

      assert_equal [416, "bytes */12000", "0", "yes", ""],
                   [response.status, *fields(response, "content-range", "content-length", "x-kept"), response.body]
      assert_equal [nil] * 3, fields(response, "etag", "content-type", "cache-control"), "nothing may be kept of it"
    end
  end

  def test_a_range_is_answered_if_the_file_is_still_the_same
    ['"one"', DATE].each { |known| assert_equal 206, if_range(known).status, known }
    ['"two"', 'W/"one"', "one", "Sat, 21 Nov 2026 10:00:01 GMT", "Sat, 21 Nov 2036 10:00:00 GMT", ""].each do |known|
      assert_whole if_range(known), known
    end
    assert_whole if_range('W/"one"', "/weak")
    assert_whole if_range('"one"', "/weak")
    assert_equal 206, if_range(DATE, "/weak").status
    assert_whole if_range('"one"', "/untyped")
  end

  def test_a_date_does_not_tell_which_coding_of_a_file_is_resumed
    files = { "content" => CONTENT }
    coding = serve(APP, files: files, args: %w[--compress])
    asked = { "Range" => "bytes=0-1", "Accept-Encoding" => "gzip" }
    whole = coding.get("/named", fields: asked.merge("If-Range" => DATE))

    assert_equal [200, "gzip", nil, 'W/"one"'],
                 [whole.status, *fields(whole, "content-encoding", "accept-ranges", "etag")]
    [asked, asked.merge("If-Range" => '"one"'), { "Range" => "bytes=0-1", "If-Range" => DATE }].each do |headers|
      part = coding.get("/named", fields: headers)

      assert_equal [206, nil, CONTENT[0..1]], [part.status, part["content-encoding"], part.body]
    end
  end

  def test_the_length_is_the_declared_one
    assert_equal ["bytes 90-99/100", CONTENT[90..99]], part("bytes=90-", "/short")
    assert_equal [416, "bytes */100"], ranged("bytes=100-", "/short").then { |r| [r.status, r["content-range"]] }
  end

  def test_the_application_may_refuse_ranges_or_answer_them_itself
    assert_equal [200, "none", CONTENT],
                 ranged("bytes=0-1", "/none").then { |r| [r.status, r["accept-ranges"], r.body] }
    { "/own" => 206, "/odd" => 200 }.each do |path, status|
      response = ranged("bytes=5-6", path)

      assert_equal [status, "bytes 0-3/9", nil, CONTENT[0..3]],
                   [response.status, *fields(response, "content-range", "accept-ranges"), response.body]
    end
  end

  def test_the_ranges_of_rack_stay_as_they_are
    one = ranged("bytes=10-20", "/files")

    assert_equal [206, "bytes 10-20/12000", CONTENT[10..20]], [one.status, one["content-range"], one.body]
    assert_equal 416, ranged("bytes=12000-", "/files").status
    assert_equal CONTENT, server.get("/files").body
  end

  def test_only_named_files_have_ranges
    { "/404" => 404, "/string" => 200, "/each" => 200 }.each do |path, status|
      response = ranged("bytes=0-1", path)

      assert_equal [status, nil, nil], [response.status, *fields(response, "content-range", "accept-ranges")]
      assert_operator response.body.bytesize, :>, 2
    end
  end

  def test_only_a_get_has_ranges
    post = server.request("POST", "/named", fields: { "Range" => "bytes=0-1" }, body: "x")
    head = server.request("HEAD", "/named", fields: { "Range" => "bytes=0-1" })

    assert_equal [200, CONTENT, nil], [post.status, post.body, post["accept-ranges"]]
    assert_equal [200, "", "bytes", "12000"], [head.status, head.body, *fields(head, "accept-ranges", "content-length")]
  end

  def test_parts_leave_the_connection_in_step
    client = connect
    %w[bytes=0-1 bytes=0-1,5-6 bytes=12000- bytes=x].each do |asked|
      assert_includes [200, 206, 416], client.get("/named", fields: { "Range" => asked }).status
    end
    assert_equal "read by each".size, client.get("/short", fields: { "Range" => "bytes=0-11" }).body.size
  end

  private

  def ranged(range, path = "/named")
    server.get(path, fields: { "Range" => range }.compact)
  end

  def if_range(known, path = "/named")
    server.get(path, fields: { "Range" => "bytes=0-1", "If-Range" => known })
  end

  def part(range, path = "/named")
    response = ranged(range, path)
    [response["content-range"], response.body]
  end

  def fields(response, *names)
    names.map { |name| response[name] }
  end

  def assert_whole(response, message = nil)
    assert_equal [200, nil, CONTENT], [response.status, response["content-range"], response.body], message
  end
end
