# frozen_string_literal: true

require "digest"
require "rack"
require "test_helper"

# Bodies that the application reads while they arrive: `request_body "stream"`.
class HttpStreamTest < Support::SharedServerTest
  CHUNKED = { "Transfer-Encoding" => "chunked" }.freeze
  LARGE = Random.new(3).bytes(20 * 1024 * 1024).freeze
  LARGE_DIGEST = Digest::SHA256.hexdigest(LARGE).freeze
  # /first answers with the first line, /echo with each piece when it comes, /lengths with the lengths of reads,
  # /skip without reading, /gate reads when the gate is open, /form with its parameters; the rest is digested.
  APP = <<~'RUBY'
    require "digest"
    require "rack"

    digest = lambda do |input, sum = Digest::SHA256.new, buffer = String.new|
      sum << buffer while input.read(65_536, buffer)
      sum.hexdigest
    end
    echo = lambda do |input|
      Enumerator.new { |out| loop { out << (input.eof? ? break : input.readpartial(65_536)) } }
    end
    answers = {
      "/first" => ->(env) { [env["rack.input"].gets] },
      "/echo" => ->(env) { echo.call(env["rack.input"]) },
      "/all" => ->(env) { [env["rack.input"].read, env["CONTENT_LENGTH"].to_s, env["HTTP_TRANSFER_ENCODING"].to_s] },
      "/skip" => ->(_env) { ["skipped"] },
      "/class" => ->(env) { [env["rack.input"].class.name] },
      "/form" => ->(env) { [Rack::Request.new(env).POST.then { |params| params.inspect }] }
    }
    app = lambda do |env|
      path = env["PATH_INFO"]
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{path} #{Process.pid}\n", mode: "a")
      sleep 0.005 until !path.start_with?("/gate") || File.exist?("gate")
      body = answers.fetch(path, ->(_) { [digest.call(env["rack.input"])] }).call(env)
      [200, { "content-type" => "text/plain" }, body]
    rescue Carat::IncompleteBody => e
      $stderr.puts("reader saw #{e.class} on #{path}")
      raise
    end
    lint = Rack::Lint.new(lambda do |env|
      input = env["rack.input"]
      pieces = [input.read(3), input.gets]
      input.each { |line| pieces << line }
      [200, { "content-type" => "text/plain" }, pieces << input.read]
    end)
    run ->(env) { (env["PATH_INFO"] == "/lint" ? lint : app).call(env) }
  RUBY

  serves APP, args: %w[--request-body stream --max-body 30MB --access-log]

  def test_the_application_begins_before_the_body_is_there
    client = connect.write(post("/first", "Content-Length: 11")).write("first\n")

    assert_equal "first\n", client.read_response.body
  end

  def test_an_answer_may_be_sent_while_its_request_is_still_coming
    client = connect.write(post("/echo", "Transfer-Encoding: chunked", "Connection: close"))
    %w[one two three].each do |piece|
      client.write("#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n")
      client.read_through("#{piece}\r\n")
    end
    client.write("0\r\n\r\n")

    assert_equal "0\r\n\r\n", client.read_to_end
  end

  def test_large_bodies_arrive_whole_in_either_framing_on_one_connection
    client = connect

    assert_equal LARGE_DIGEST, client.request("POST", "/", body: LARGE).read_response.body
    client.request("POST", "/", fields: CHUNKED, body: chunks(LARGE, 30_011))
    assert_equal LARGE_DIGEST, client.read_response.body
    assert_equal "skipped", client.get("/skip").body
  end

  def test_a_small_body_that_is_there_is_in_memory
    assert_equal "Carat::Request::MemoryInput", connect.request("POST", "/class", body: "abc").read_response.body
    assert_equal "Carat::Request::MemoryInput",
                 connect.request("POST", "/class", fields: CHUNKED, body: chunks("abc", 2)).read_response.body
  end

  def test_the_application_learns_the_length_or_that_there_is_none_yet
    client = connect.write(post("/all", "Content-Length: 5")).write("hello")
    assert_equal "hello5", client.read_response.body

    client.write(post("/all", "Transfer-Encoding: chunked"))
    await_arrival("/all", 2)
    client.write("5\r\nhello\r\n0\r\n\r\n")
    assert_equal "hellochunked", client.read_response.body
  end

  def test_a_client_that_waits_for_leave_gets_it_when_the_application_reads
    client = connect.write(post("/gate", "Content-Length: 5\r\nExpect: 100-continue"))
    await_arrival("/gate")

    refute client.closed_by_peer?(within: 0.1)
    server.gate.open
    assert_equal 100, client.read_response.status
    assert_equal Digest::SHA256.hexdigest("hello"), client.write("hello").read_response.body
  end

  def test_an_answer_without_reading_tells_the_client_that_nothing_more_is_read
    30.times do # the answer and the body cross in different places
      client = connect.write(post("/skip", "Content-Length: 20000000"))
      response = client.write("x" * 100_000).read_response

      assert_equal %w[skipped close], [response.body, response["connection"]]
      assert_closed client
    end
  end

  def test_what_is_left_of_a_short_body_is_taken_and_the_connection_kept
    client = connect.write(post("/first", "Content-Length: 20000")).write("first\n")
    assert_equal "first\n", client.read_response.body
    client.write("x" * 19_994)

    assert_equal "skipped", client.get("/skip").body
  end

  def test_the_next_request_may_be_there_already
    first = post("/", "Content-Length: 100000") << ("x" * 100_000)
    client = connect.write(first << post("/skip", "Content-Length: 0"))

    assert_equal Digest::SHA256.hexdigest("x" * 100_000), client.read_response.body
    assert_equal "skipped", client.read_response.body
  end

  %i[close reset close_write].each do |leave|
    define_method("test_the_reader_hears_of_a_#{leave}_in_the_middle") do
      ["Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"].each do |rest|
        start = server.gate.arrivals.size
        client = connect.write("POST /middle HTTP/1.1\r\nHost: a\r\n#{rest}")
        await_arrivals(server, start + 1)
        client.public_send(leave)

        eventually { assert_includes log, "reader saw Carat::IncompleteBody on /middle" }
        @log_start = server.log.size
      end
      assert_equal "skipped", server.get("/skip").body
    end
  end

  def test_a_body_that_turns_out_malformed_is_400_and_the_reader_hears_of_it
    client = connect.write(post("/malformed", "Transfer-Encoding: chunked")).write("5\r\nhello\r\n")
    await_arrival("/malformed")

    assert_equal 400, client.write("x\r\n").read_response.status
    eventually { assert_includes log, "reader saw Carat::IncompleteBody on /malformed" }
  end

  def test_a_body_that_turns_out_too_large_is_413_and_the_reader_hears_of_it
    client = connect.write(post("/large", "Transfer-Encoding: chunked"))
    response = client.write(chunks("x" * (31 * 1024 * 1024), 1024 * 1024)).read_response

    assert_equal [413, "close"], [response.status, response["connection"]]
    eventually { assert_includes log, "reader saw Carat::IncompleteBody on /large" }
  end

  def test_a_body_announced_too_large_is_413_without_the_application
    assert_equal 413, connect.write(post("/never", "Content-Length: 40000000")).read_response.status
    refute_includes server.gate.arrivals.map(&:path), "/never"
  end

  def test_forms_are_parsed_by_rack
    form = "a=1&b[]=2&b[]=#{"3" * 70_000}"
    fields = { "Content-Type" => "application/x-www-form-urlencoded" }
    response = connect.request("POST", "/form", fields: fields, body: form).read_response
    assert_equal({ "a" => "1", "b" => ["2", "3" * 70_000] }.inspect, response.body)

    multipart = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n#{"y" * 70_000}\r\n--x--\r\n"
    fields = { "Content-Type" => "multipart/form-data; boundary=x" }
    response = connect.request("POST", "/form", fields: fields, body: multipart).read_response
    assert_equal({ "a" => "y" * 70_000 }.inspect, response.body)
  end

  def test_rack_lint_finds_no_fault
    body = "abcdef\n#{"x" * 80_000}\n"

    assert_equal body, connect.request("POST", "/lint", body: body).read_response.body
  end

  private

  def post(path, *lines)
    "POST #{path} HTTP/1.1\r\nHost: a\r\n#{lines.join("\r\n")}\r\n\r\n"
  end

  def await_arrival(path, count = 1)
    eventually(message: "#{path} in the application") { server.gate.arrivals.count { |one| one.path == path } >= count }
  end
end
