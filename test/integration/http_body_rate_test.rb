# frozen_string_literal: true

require "test_helper"

# A body that comes too slowly. The rate counts after ten seconds, so all that has to be seen is seen at once.
class HttpBodyRateTest < Support::Refusals
  GRACE = 10

  serves Support::Probe::APP, threads: 1,
                              args: %w[--body-min-rate 1KB --header-timeout 1 --idle-timeout 1 --inline-body-limit 0]

  def test_a_body_that_is_too_slow_is_408_and_one_that_is_not_may_go_on
    start = Support::Eventually.now
    slow = ["Content-Length: 9999\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n270F\r\nx",
            "Content-Length: 9999\r\nExpect: 100-continue\r\n\r\n"].map { |rest| post(rest) }
    steady = post("Content-Length: 40000\r\n\r\n#{"x" * 30_000}")
    eventually { assert_equal 3, spooled }
    slow.each { |client| assert_too_slow client }

    assert_operator Support::Eventually.now - start, :>=, GRACE
    assert_match(/\A40000 /, steady.write("x" * 10_000).read_response.body)
    assert_equal [Support::Probe.line("POST", "/digest")], log.lines
    eventually { assert_equal 0, spooled }
  end

  # Beside the other tests of streamed bodies, which run alone, ten seconds would be paid three times.
  STREAMED = <<~'RUBY'
    run(lambda do |env|
      File.write("arrivals", "POST #{env["PATH_INFO"]} #{Process.pid}\n", mode: "a")
      sleep 0.005 until env["PATH_INFO"] == "/" || File.exist?("gate")
      [200, {}, [env["rack.input"].read]]
    end)
  RUBY

  def test_a_streamed_body_that_is_too_slow_is_408_and_one_that_has_to_wait_may_go_on
    server = serve(STREAMED, threads: 2, args: %w[--request-body stream --body-min-rate 1KB])
    waits, slow = %w[/gate /].map do |path|
      client = server.connect.write("POST #{path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n")
      client.tap { await_arrivals(server, path == "/" ? 2 : 1) }
    end

    assert_equal 408, slow.write("x" * 100).read_response.status
    assert_equal "body", server.request("POST", "/", body: "body").body
    refute waits.closed_by_peer?(within: 2)
    server.gate.open
    assert_equal 5000, waits.write("x" * 5000).read_response.body.bytesize
  end

  private

  def post(rest)
    connect.write("POST /digest HTTP/1.1\r\nHost: a\r\n#{rest}")
  end

  # How many bodies are in files: of those that have sent a byte.
  def spooled
    Support::ProcessTree.unlinked(server.pid).size
  end

  def assert_too_slow(client)
    response = client.read_response
    response = client.read_response if response.status == 100

    assert_equal [408, "close"], [response.status, response["connection"]]
    assert_closed client
  end
end
