# frozen_string_literal: true

require "digest"
require "test_helper"
require "carat/parts/doctor/open_files"
require "carat/config/configuration"

module Carat
  # A limit of open files that is too low for the clients, or for what a worker has open.
  class OpenFilesTest < Support::IntegrationTest
    include Support::FormBody

    # With it, two workers of three threads leave room for 60 clients and 15 files of request bodies.
    LIMIT = 256
    CLIENTS = 60
    SPOOLS = 15
    UPLOAD = ("u" * 100_000).freeze
    APP = <<~'RUBY'
      require "digest"
      File.write("big", "b" * 4_000_000)
      big = Struct.new(:to_path).new("big")
      kept = []
      exhaust = lambda do |list|
        loop { list << File.open(File::NULL) }
      rescue Errno::EMFILE
        []
      end
      answers = {
        "/" => ->(_env) { [Process.getrlimit(:NOFILE).inspect] },
        "/long" => ->(_env) { ["l" * 100_000] },
        "/big" => ->(_env) { big },
        "/upload" => ->(env) { [env["rack.input"].read.bytesize.to_s] },
        "/form" => ->(env) { Rack::Request.new(env).POST.values.map { |file| Digest::SHA256.hexdigest(file[:tempfile].read) } },
        "/sleep" => ->(_env) { sleep(0.01) until File.exist?("awake"); ["slept"] },
        "/leak" => ->(_env) { exhaust.call(kept) },
        "/forget" => ->(_env) { Thread.new { exhaust.call([]) }.value } # a stack that ends keeps nothing alive
      }
      run ->(env) { [200, {}, answers.fetch(env["PATH_INFO"]).call(env)] }
    RUBY

    def test_the_soft_limit_is_raised_to_the_hard_one
      server = serve(APP, spawn: { rlimit_nofile: [256, 4096] })
      assert_equal "[4096, 4096]", server.get.body
      assert_match(/^Max open files +4096 +4096 /, File.read("/proc/#{server.pid}/limits"))
    end

    def test_more_clients_than_the_soft_limit_are_served
      server = serve(APP, spawn: { rlimit_nofile: [256, 4096] })
      clients = connect(server, 400)
      assert_equal [200], clients.map { |client| client.get.status }.uniq
    end

    def test_the_doctor_expects_what_the_server_allows
      { CLIENTS => "ok", CLIENTS + 1 => "warning" }.each do |clients, word|
        server = serve_limited(args: ["--max-connections", clients.to_s])
        finding = doctor("max_connections=#{clients}", allowed: LIMIT)
        assert_equal [word, word == "warning"], [finding.to_s[/\w+/], server.log.include?("fewer clients")]
      end
      assert_equal "ok       open files: #{LIMIT} allowed, enough for #{CLIENTS} clients",
                   doctor(allowed: LIMIT).to_s
    end

    def test_a_limit_without_room_for_clients_is_an_error_at_boot
      server = server(app: APP, workers: 2, threads: 3, spawn: { rlimit_nofile: [110, 110] })
      assert_equal 1, server.run.exitstatus
      assert_includes server.log, "the limit of open files, 110, is too low for 2 workers and clients"
      assert_predicate doctor(allowed: 110), :problem?
    end

    def test_idle_clients_above_the_limit_cost_no_response_and_no_worker
      server = serve_limited
      clients = connect(server, LIMIT + 50)
      clients.each_slice(CLIENTS) do |slice|
        slice.each { |client| client.request("GET", "/long") }
        responses = slice.map(&:read_response)
        assert_equal [[200, 100_000]], responses.map { |response| [response.status, response.body.bytesize] }.uniq
        slice.first(SPOOLS).each { |client| client.request("POST", "/upload", body: UPLOAD) }
        assert_equal %w[100000], slice.first(SPOOLS).map { |client| client.read_response.body }.uniq
        slice.each(&:close)
      end
      assert_unharmed(server)
    end

    def test_responses_that_nobody_reads_leave_descriptors_for_those_of_others
      server = serve_limited
      clients = connect(server, LIMIT)
      clients.first(CLIENTS).each { |client| client.request("GET", "/big") }
      sizes = clients.first(CLIENTS).map { |client| client.read_response.body.bytesize }
      assert_equal [4_000_000], sizes.uniq
      assert_unharmed(server)
    end

    def test_responses_over_http2_leave_descriptors_for_those_of_others
      server = serve_limited
      streams = Array.new(100) { |index| index * 2 + 1 }
      greedy = Array.new(3) { http2_client(server).tap { |client| client.write(*big_requests(client, streams)) } }
      # As many as there is room for respond; the others wait for them.
      assert_equal([200] * 3, greedy.map { |client| client.await(:headers).status })
      clients = connect(server, CLIENTS - 3)
      clients.each { |client| client.request("GET", "/big") }
      assert_equal [4_000_000], clients.map { |client| client.read_response.body.bytesize }.uniq
      assert_unharmed(server)
    end

    def test_requests_over_http2_that_take_long_keep_no_descriptors
      server = serve_limited(threads: nil, fibers: 100)
      clients = Array.new(2) { http2_client(server) }
      clients.zip([80, 1]) do |client, count|
        client.write(*Array.new(count) { |index| client.request(index * 2 + 1, path: "/sleep") })
      end
      last = clients.last
      assert_equal 200, last.write(last.request(3)).await(:headers, stream: 3).status
      server.directory.write("awake", "")
      assert_equal 200, last.await(:headers, stream: 1).status
      assert_unharmed(server)
    end

    def test_a_tunnel_over_http2_without_a_descriptor_is_refused_and_logged
      server = serve_limited(threads: nil, fibers: 100, args: %w[--access-log])
      client = Support::Http2Client.new(connect(server, 1).first)
      tunnel = { method: "CONNECT", path: "/sleep", protocol: "echo", flags: Support::Http2Client::END_HEADERS }
      client.write(*Array.new(100) { |index| client.request(index * 2 + 1, **tunnel) })
      await_log(server, %r{"GET /sleep HTTP/2.0" 503 .* reason="too many files are open"})
      server.directory.write("awake", "")
      refute_includes server.log, '"-" 503'
      assert_unharmed(server)
    end

    def test_uploads_beyond_the_files_for_bodies_get_503_and_the_others_are_served
      server = serve_limited
      uploads = connect(server, SPOOLS + 5)
      uploads.each { |client| client.write("#{head(UPLOAD)}#{UPLOAD[0, 90_000]}") }
      refused, accepted = uploads.partition { |client| client.socket.wait_readable(0) } if await_refusals(uploads, 5)
      assert_equal [[503, "1", "close"]], refused.map { |client| status(client) }.uniq
      accepted.each { |client| client.write(UPLOAD[90_000..]) }
      assert_equal %w[100000], accepted.map { |client| client.read_response.body }.uniq
      await_log(server, /too many request bodies in files: .* refused=\d+ files=#{SPOOLS}/)
      assert_unharmed(server)
    end

    def test_the_files_of_a_form_stay_in_the_body_when_there_are_too_few_descriptors
      server = serve_limited(args: %w[--multipart edge])
      parts = Array.new(2 * SPOOLS) { |number| file("f#{number}", "\"#{number}\"", CONTENT + number.to_s) }
      response = server.request("POST", "/form", fields: { "Content-Type" => TYPE }, body: form(*parts))
      assert_equal parts.map { |_, content| Digest::SHA256.hexdigest(content) }.join, response.body
      assert_unharmed(server)
    end

    def test_a_worker_that_forgot_files_closes_them_and_serves_the_upload
      server = serve_limited(workers: 1)
      server.get("/forget")
      assert_equal [200, "100000"], upload(server)
      assert_unharmed(server)
    end

    def test_a_worker_that_leaks_files_costs_single_uploads_until_it_is_replaced
      server = serve_limited(workers: 1)
      pid = server.workers.fetch(1)
      server.get("/leak")
      assert_equal [503, "too many files are open\n"], upload(server)
      assert_equal 200, server.get.status
      await_log(server, /worker will be replaced .*reason="too many open files"/)
      eventually(message: "the end of the worker") { server.workers.values.none?(pid) }
      assert_equal [200, "100000"], upload(server)
      assert_match(/request not received: its worker has too many files open .*POST/, server.log)
      refute_match(/lane broken|worker died|request lost/, server.log)
    end

    def test_a_worker_that_leaks_files_still_sends_a_long_response_or_an_error
      server = serve_limited(workers: 1)
      server.get("/leak")
      assert_equal 500, server.get("/long").status
      assert_includes server.log, "Errno::EMFILE"
      refute_match(/lane broken|worker died|request lost/, server.log)
    end

    def teardown
      @clients&.each(&:close)
      super
    end

    private

    # What the doctor finds for two workers of three threads.
    def doctor(*words, allowed:)
      configuration = Config::Configuration.from_words(["rackup=#{__FILE__}", "workers=2", "threads=3", *words],
                                                       env: {})
      CLI::Doctor::OpenFiles.new(configuration, allowed:).finding
    end

    def serve_limited(workers: 2, threads: 3, fibers: nil, **options)
      serve(APP, workers:, threads:, fibers:, spawn: { rlimit_nofile: [LIMIT, LIMIT] }, **options)
    end

    def connect(server, count)
      Array.new(count) { server.connect }.tap { |clients| (@clients ||= []).concat(clients) }
    end

    # A client that lets no byte of a response pass.
    def http2_client(server)
      Support::Http2Client.new(connect(server, 1).first, settings: { Support::Http2Client::INITIAL_WINDOW_SIZE => 0 })
    end

    def big_requests(client, streams)
      streams.map { |stream| client.request(stream, path: "/big") }
    end

    def head(body)
      "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n"
    end

    def upload(server)
      server.request("POST", "/upload", body: UPLOAD).then { |response| [response.status, response.body] }
    end

    def await_refusals(clients, count)
      eventually(message: "#{count} refusals") { clients.count { |client| client.socket.wait_readable(0) } == count }
    end

    def status(client)
      client.read_response.then { |response| [response.status, response["retry-after"], response["connection"]] }
    end

    def assert_unharmed(server)
      assert_equal server.log.scan("worker ready").size, server.workers.size
      refute_match(/lane broken|worker died|request lost|response lost|cannot |will be replaced/, server.log)
    end
  end
end
