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
end
