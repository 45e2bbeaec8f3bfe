# frozen_string_literal: true

require "rack"
require "test_helper"

# What the mold asks of the application before it forks.
class WarmUpTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "rack/lint"
    SEEN = []
    Body = Struct.new(:parts) do
      def each(&block) = parts.each(&block)
      def close = SEEN << "closed"
    end
    run(Rack::Lint.new(lambda { |env|
      case env["PATH_INFO"]
      when "/seen" then next [200, { "content-type" => "text/plain" }, [SEEN.join("\n")]]
      when "/raise" then raise "no database"
      when "/exit" then exit(3)
      when "/hang" then sleep
      when "/kill" then Thread.current.kill
      when "/missing" then next [404, { "content-type" => "text/plain" }, ["nothing here"]]
      when "/broken" then next [200, { "content-type" => "text/plain" }, Enumerator.new { raise NotImplementedError }]
      end
      SEEN << "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{env["QUERY_STRING"]} #{Process.pid == MOLD}"
      %w[rack.after_reply rack.response_finished].each { |name| env[name] << ->(*) { SEEN << name } }
      [200, { "content-type" => "text/plain" }, Body.new(["warm"])]
    }))
    MOLD = Process.pid
  RUBY

  # Writes down how it was asked last.
  SCHEME = 'run(->(env) { [200, {}, [File.write("scheme", env["rack.url_scheme"]).to_s]] })'

  def test_targets_are_requested_in_the_mold_to_their_end
    seen = serve(APP, workers: 1, config: 'warm_up "/", "/login?next=%2Fhome"').get("/seen").body.lines(chomp: true)
    rest = ["closed", "rack.after_reply", "rack.response_finished"]
    assert_equal ["GET /  true", *rest, "GET /login next=%2Fhome true", *rest], seen.first(8)
    await_log(@servers.last, / info application warmed up requests=2 pid=\d+$/) unless RubyVM.const_defined?(:YJIT)
  end

  def test_with_a_jit_the_targets_are_repeated_until_they_are_compiled
    skip "this Ruby has no YJIT" unless RubyVM.const_defined?(:YJIT)

    server = serve(APP, workers: 1, config: 'warm_up "/"', env: { "RUBYOPT" => "--yjit" })
    assert_equal 131, server.get("/seen").body.scan("GET /  true").size
    compiled = " compiled=[1-9]\\d* machine_code=[1-9]\\d*" if RUBY_VERSION >= "3.3" # older ones do not tell
    await_log(server, / info application warmed up requests=131#{compiled} pid=\d+$/)
  end

  def test_targets_are_requested_over_https_where_clients_use_it
    clear, secure = "tcp://127.0.0.1:0", "tls://127.0.0.1:0?cert=server.crt&key=server.key"
    files = Support::TestCertificate.new("localhost").files
    [["http", [clear], ""], ["https", [clear], "force_tls true\n"], ["https", [clear, secure], ""]]
      .each do |expected, binds, line|
        server = serve(SCHEME, workers: 1, binds:, files:, config: "warm_up \"/\"\n#{line}")
        assert_equal expected, server.directory.read("scheme")
      end
  end

  def test_what_goes_wrong_is_told_with_its_target_and_the_server_serves
    server = serve(APP, workers: 1, config: 'warm_up "/raise", "/missing", "/broken", "/exit", "/kill", "/"')
    assert_includes server.get("/seen").body, "GET /"
    await_log(server, %r{^carat: mold: warm_up /raise: .*no database})
    await_log(server, %r{^carat: mold: warm_up /missing: responded with 404$})
    await_log(server, %r{^carat: mold: warm_up /broken: .*NotImplementedError})
    await_log(server, %r{^carat: mold: warm_up /exit: .*exit})
    await_log(server, %r{^carat: mold: warm_up /kill: the application has ended its thread$})
  end

  def test_what_waits_in_a_buffer_is_written_once
    server = serve(<<~'RUBY', workers: 2, threads: 1)
      OUT = File.open("out", "a")
      OUT.write("from the mold\n")
      run ->(_env) { [200, {}, [OUT.write("from a worker\n").to_s]] }
    RUBY
    await_workers(server, 2)
    server.get
    server.stop
    assert_equal ["from the mold\n", "from a worker\n"], server.directory.read("out").lines
  end
end
