# frozen_string_literal: true

require "carat/request/env_template"
require "carat/warmup/warmup_request"
require "rack"
require "rack/lint"
require "stringio"
require "test_helper"

module Carat
  class WarmupRequestTest < Minitest::Test
    def test_environment_is_one_that_rack_accepts
      assert_empty warm(Rack::Lint.new(->(env) { answer(@env = env) }), "/login?next=%2F")
      assert_equal ["GET", "/login", "next=%2F", "/login?next=%2F", "localhost", ""],
                   @env.values_at("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "REQUEST_URI", "HTTP_HOST",
                                  "SCRIPT_NAME")
      assert_equal Encoding::BINARY, @env["PATH_INFO"].encoding
    end

    def test_streaming_body_is_called
      stream = nil
      assert_empty warm(->(_env) { [200, {}, ->(io) { (stream = io) << "a" and io.write("b", "c") and io.close }] })
      assert_predicate stream, :closed?
    end

    def test_body_that_raises_is_closed_and_reported
      body = Object.new
      def body.each = raise("broken")
      def body.close = @closed = true
      assert_match(/\Acarat: mold: warm_up \/: .*broken/, warm(->(_env) { [200, {}, body] }))
      assert body.instance_variable_get(:@closed)
    end

    def test_redirect_is_fine_and_an_error_status_is_reported
      assert_empty warm(->(_env) { [302, { "location" => "/login" }, []] })
      assert_equal "carat: mold: warm_up /: responded with 503\n", warm(->(_env) { [503, {}, []] })
    end

    def test_a_redirect_of_the_same_path_is_followed_over_https_and_else_reported
      seen = []
      ssl = lambda do |env|
        seen << env.values_at("HTTPS", "rack.url_scheme", "SERVER_PORT")
        env["HTTPS"] ? answer(env) : [301, { "Location" => "https://localhost/up?full=1" }, []]
      end

      assert_empty warm(ssl, "/up?full=1")
      assert_equal [[nil, "http", "80"], %w[on https 443]], seen
      assert_empty warm(ssl, "/up", https: true)
      log = warm(->(_env) { [308, { "location" => "https://www.example.com/up" }, []] }, "/up")
      assert_match(%r{: responded with 308 to https://www\.example\.com/up, so it did not reach the application}, log)
      assert_match(/responded with 403: the application may refuse the host/, warm(->(_env) { [403, {}, []] }))
    end

    def test_a_redirect_to_another_query_is_no_detour_and_a_loop_is_one
      app = ->(env) { [302, { "location" => "#{env["rack.url_scheme"]}://localhost/?locale=de" }, []] }
      assert_empty warm(app) + warm(app, https: true)
      assert_empty warm(app, "/?page=1")
      %w[http https].each do |scheme|
        assert_match(/did not reach/, warm(->(_env) { [302, { "location" => "#{scheme}://localhost/" }, []] }))
      end
    end

    def test_callables_receive_the_response_or_the_error
      seen = []
      warm(->(env) { env["rack.response_finished"] << ->(*all) { seen << all.drop(1) } and answer(env) })
      warm(->(env) { env["rack.response_finished"] << ->(*all) { seen << all.drop(1) } and raise("no") })
      assert_equal [[200, nil], [nil, "no"]], seen.map { |status, _headers, error| [status, error&.message] }
    end

    def test_end_of_a_request_is_reported_and_ends_nothing_else
      { "exit" => ->(_env) { exit(3) }, "Exception" => ->(_env) { raise Exception }, # rubocop:disable Lint/RaiseException
        "NoMemoryError" => ->(_env) { raise NoMemoryError },
        "the application has ended its thread" => ->(_env) { Thread.current.kill } }.each do |words, app|
        assert_match(/\Acarat: mold: warm_up \/: .*#{words}/, warm(app))
      end
    end

    def test_request_that_hangs_is_ended_and_reported_with_its_path
      queue = Queue.new
      hanging = lambda do |_env|
        queue.pop
      ensure
        @ended = true
      end
      endless = ->(_env) { [200, {}, Enumerator.new { |parts| loop { parts << "a" } }] }
      ends = [hanging, endless].map { |app| warm(app, "/hang", deadline: now + 0.5) }
      ends.each { |log| assert_match(%r{\Acarat: mold: warm_up /hang: not finished in time \(boot_timeout\)}, log) }
      assert @ended
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def answer(_env)
      [200, { "content-type" => "text/plain" }, ["warm"]]
    end

    # Returns the log.
    def warm(app, target = "/", deadline: now + 60, https: false)
      log = Log::ProcessLog.new(stream = StringIO.new, mold: true)
      template = Request::EnvTemplate.new(release: Rack.release, capacity: 1, several: true, spool_dir: "/var/tmp")
      Warmup::WarmupRequest.new(app, template, target, log: log, https: https).run(deadline: deadline)
      stream.string
    end
  end
end
