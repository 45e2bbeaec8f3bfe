# frozen_string_literal: true

require "test_helper"

# A quick lane is sent requests ahead; they must not wait there for a slow one while another lane idles.
class PrefetchTest < Support::IntegrationTest
  # /hold/NAME is answered when the file NAME exists, everything else at once; the answer is the worker's pid.
  APP = <<~'RUBY'
    run(lambda do |env|
      name = env["PATH_INFO"][%r{\A/hold/(.+)}, 1]
      File.write("held", "#{name}\n", mode: "a") if name
      sleep 0.005 until name.nil? || File.exist?(name)
      [200, { "content-type" => "text/plain" }, [Process.pid.to_s]]
    end)
  RUBY

  def test_requests_behind_a_slow_one_are_taken_back_for_a_lane_that_has_nothing_to_do
    server = serve(APP, workers: 2, threads: 1)
    await_workers(server, 2)
    quick = Array.new(20) { server.get("/quick").body.to_i }.last
    other = (server.workers.values - [quick]).first

    slow = %w[slow short].map { |name| server.connect.request("GET", "/hold/#{name}") }
    behind = Array.new(20) { |number| server.connect.request("POST", "/#{number}", body: "x") }
    eventually { server.directory.read("held").lines(chomp: true).sort == %w[short slow] }
    server.directory.write("short", "")

    assert_equal [other] * 20, (behind.map { |client| client.read_response.body.to_i })
    server.directory.write("slow", "")
    assert_equal [quick, other], (slow.map { |client| client.read_response.body.to_i })
  end

  # Goes on after the response until the file `go` exists.
  LINGERING = <<~'RUBY'
    GO_ON = -> { sleep 0.005 until File.exist?("go") }
    Body = Struct.new(:pieces) do
      def each(&block) = pieces.each(&block)
      def close = GO_ON.call
    end
    run lambda { |env|
      case env["PATH_INFO"]
      when "/reply" then env["rack.after_reply"] << GO_ON
      when "/finished" then env["rack.response_finished"] << ->(*) { GO_ON.call }
      when "/close" then next [200, {}, Body.new(["ok"])]
      when "/declared" then next [200, { "content-length" => "2" }, Body.new(["ok"])]
      when "/file" then next [200, {}, Body.new([]).tap { |body| body.define_singleton_method(:to_path) { "config.ru" } }]
      when "/empty" then next [204, {}, Body.new([])]
      end
      [200, {}, [Process.pid.to_s]]
    }
  RUBY

  def test_a_request_does_not_wait_for_what_follows_another_response
    server = serve(LINGERING, workers: 1, threads: 7)
    %w[/reply /finished /close /declared /file /empty].each { |path| assert_operator server.get(path).status, :<, 300 }
    assert_equal([200] * 5, Array.new(5) { server.get.status })
    server.directory.write("go", "")
  end

  def test_a_request_that_was_not_begun_gets_no_504_for_what_another_does
    server = serve(LINGERING, workers: 1, threads: 3, args: %w[--request-timeout 0.5])
    before = server.get.body
    %w[/reply /finished /declared].each { |path| assert_equal 200, server.get(path).status }
    response = server.request("POST", body: "x")

    assert_equal 200, response.status
    refute_equal before, response.body
    await_log(server, / error lane begins no request /)
  end
end
