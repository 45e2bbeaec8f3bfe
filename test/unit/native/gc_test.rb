# frozen_string_literal: true

require "test_helper"

module Carat
  module ::Native
    # The same traffic while the garbage collector runs at every allocation, and while it moves objects.
    class GcTest < Support::NativeTest
      BODY = "\xFF\0body".b.freeze

      APP = lambda do |env|
        seen = [env["rack.input"].read, *env.values_at("PATH_INFO", "HTTP_X_ODD", "HTTP_HOST", "REQUEST_METHOD")]
        case env["PATH_INFO"]
        when "/inline" then [200, { "x-#{seen[2]}" => seen[3] }, seen.map(&:to_s)]
        when "/list" then [200, { "x" => %w[a b], "y" => 1 }, seen.map(&:to_s)]
        when "/form" then [200, {}, [*seen, env["rack.multipart.tempfile_factory"].call("x.txt", nil).read].map(&:to_s)]
        when "/file" then [200, {}, ["x" * 70_000, *seen.map(&:to_s)]]
        when "/each" then [200, {}, Support::RecordedBody.new { |write| seen.each { |part| write.call(part.to_s) } }]
        else raise "no such path"
        end
      end

      def setup
        super
        @file = File.open(Dir.tmpdir, File::RDWR | File::TMPFILE)
        @file.write("in a file")
        @file.flush
      end

      def teardown
        GC.stress = false
        @file.close
        super
      end

      def test_under_stress
        traffic { |taken| under_stress(&taken) }
      end

      def test_while_objects_move
        traffic do |taken|
          Support::Compaction.compact
          taken.call
          Support::Compaction.compact
        end
      end

      def test_control_messages_under_stress
        near, far = UNIXSocket.pair
        control = Native::Control.new(near)
        3.times { |lane| far.write(Support::Wire.ask_stack(lane, 7)) }
        messages = under_stress { Array.new(3) { control.receive } }
        assert_equal [[:ask_stack, 0, 7], [:ask_stack, 1, 7], [:ask_stack, 2, 7]], messages
        control.close
        far.close
      end

      private

      def traffic
        lane = harness(APP)
        served = Request::Slot.new(APP, lane.native, spool_dir: Dir.tmpdir, log: lane.log)
        %w[/inline /list /form /file /each /raises].each do |path|
          lane.request(path: path, method: "POST", body: BODY, headers: { "x-odd" => "odd", "host" => "h" },
                       files: path == "/form" ? [@file] : [])
          yield -> { served.send(:serve, served.send(:take)) }
          lane.native.flush
          check(lane, path)
        end
      end

      def check(lane, path)
        response = lane.response
        expected = [BODY, path, "odd", "h", "POST"].join.b
        case path
        when "/inline" then assert_equal [[%w[x-odd h]], expected], [response.headers, response.body]
        when "/list" then assert_equal [[%w[x a], %w[x b], %w[y 1]], expected], [response.headers, response.body]
        when "/form" then assert_equal "#{expected}in a file".b, response.body
        when "/file" then assert_equal expected, lane.descriptors.last.pread(100, 70_000)
        when "/each" then assert_equal [expected, :end], lane.stream
        else assert_equal 500, response.status
        end
      end

      def under_stress
        GC.stress = true
        yield
      ensure
        GC.stress = false
      end
    end
  end
end
