# frozen_string_literal: true

require "test_helper"

module Carat
  module ::Native
    class AllocationTest < Support::NativeTest
      LIMIT = 25
      # Their responses fit into the socket even if each is sent alone.
      REQUESTS = 80
      # The headers of a browser.
      HEADERS = {
        "host" => "localhost:9292", "user-agent" => "Mozilla/5.0", "accept" => "text/html", "accept-encoding" => "gzip",
        "accept-language" => "en", "connection" => "keep-alive", "cookie" => "a=1; b=2"
      }.freeze

      %w[2.2.22 3.1.0].each do |release|
        define_method("test_a_warm_get_allocates_at_most_#{LIMIT}_objects_with_rack_#{release}") do
          headers = { "content-type" => "text/plain" }.freeze
          body = ["hello"].freeze
          count = objects_per_request(->(_env) { [200, headers, body] }, release)
          assert_operator count - 1, :<=, LIMIT # the application's own Array
        end
      end

      private

      # Takes requests that have arrived already, and responds, in this thread.
      def objects_per_request(app, release)
        lane = harness(app, release: release)
        served = Request::Slot.new(app, lane.native, spool_dir: Dir.tmpdir, log: lane.log)
        2.times { lane.send_bytes(requests) }
        serve_some(served)
        lane.native.flush
        REQUESTS.times { lane.response }
        before = GC.stat(:total_allocated_objects)
        serve_some(served)
        (GC.stat(:total_allocated_objects) - before).fdiv(REQUESTS).round(2)
      end

      def requests
        (1..REQUESTS).map { |id| Support::Wire.request(id, path: "/a", query: "q=1", headers: HEADERS) }.join
      end

      def serve_some(served)
        REQUESTS.times { served.send(:serve, served.send(:take)) }
      end
    end
  end
end
