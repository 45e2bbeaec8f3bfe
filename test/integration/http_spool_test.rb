# frozen_string_literal: true

require "test_helper"

# Bodies in unlinked files, and the room that they have.
class HttpSpoolTest < Support::IntegrationTest
  KB = 1024
  SPOOL = { "spool/keep" => "" }.freeze
  ARGS = %w[--inline-body-limit 16KB --body-buffer 16KB --spool-dir spool].freeze
  CHUNKED = { "Transfer-Encoding" => "chunked" }.freeze

  # Where memory ends, where a buffer is full, where it is full again, where a read ends.
  EDGES = [16, 32, 48, 64, 128].map { |edge| edge * KB }.freeze
  RANDOM = Random.new(6).bytes(129 * KB).freeze

  def test_bodies_and_chunks_a_byte_short_of_and_past_each_edge_arrive_byte_for_byte
    client = serve_spooling(app: Support::Probe::APP).connect
    sizes = EDGES.product([-1, 0, 1]).map(&:sum)
    sizes.each do |size|
      body = RANDOM.byteslice(0, size)
      assert_equal body, client.request("POST", "/echo", body: body).read_response.body

      sizes.each do |chunk|
        client.request("POST", "/echo", fields: CHUNKED, body: chunks(body, chunk))
        assert_equal body, client.read_response.body, "#{size} bytes in chunks of #{chunk}"
      end
    end
  end

  def test_bodies_beyond_the_spool_limit_together_get_503_and_their_room_is_given_back
    server = serve_spooling(args: %w[--spool-limit 1MB])
    first = ask(server, "POST", "/gate", body: "x" * 700 * KB)
    await_arrivals(server, 1)
    3.times { assert_refused 503, server, "x" * 500 * KB }
    refused = -> { server.log.scan(/spool full refused=(\d+) spool_limit=1048576/).flatten.sum(&:to_i) }
    eventually { assert_equal 3, refused.call }
    server.gate.open

    assert_equal 200, first.read_response.status
    eventually { assert_equal 200, server.request("POST", "/", body: "x" * 1024 * KB).status }
  end

  # To close the last descriptor of 3 GB takes more than a second, in which the main thread would serve nobody.
  def test_another_thread_closes_the_file_of_a_body
    server = serve_spooling
    threads = -> { Dir["/proc/#{server.pid}/task/*/comm"].map { |path| File.read(path).chomp } }
    refute_includes threads.call, "carat close"
    assert_equal 200, server.request("POST", "/", body: "x" * 100 * KB).status
    eventually { assert_includes threads.call, "carat close" }
    eventually { assert_empty spooled(server) }
  end

  # A worker writes a large response to a file, which stays until its client has read it.
  def test_spooled_responses_count_against_the_spool_limit_and_give_their_room_back
    server = serve_spooling(app: 'run ->(_env) { [200, {}, ["x" * 700 * 1024]] }', args: %w[--spool-limit 1MB])
    slow = connect_narrowly(server).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    slow.read_exactly(100)
    refused = server.get
    assert_equal [500, nil], [refused.status, refused["retry-after"]]
    slow.close
    eventually { assert_equal 200, server.get.status }
  end

  def test_a_503_for_want_of_room_says_when_to_come_back
    server = serve_spooling(args: %w[--spool-limit 100KB])
    response = server.request("POST", "/", fields: CHUNKED, body: chunks("x" * 101 * KB))

    assert_equal [503, "1", "close"], [response.status, response["retry-after"], response["connection"]]
    # The room is free when another thread has closed the file.
    eventually { assert_equal 200, server.request("POST", "/", body: "x" * 100 * KB).status }
  end

  def test_what_a_client_that_disappears_has_sent_is_given_back
    server = serve_spooling(args: %w[--spool-limit 1MB])
    10.times do
      leaving = server.connect.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n#{"x" * 800_000}")
      eventually { assert_operator spooled(server).sum, :>=, 700_000 }
      leaving.close
      eventually { assert_empty spooled(server) }
    end

    assert_equal 200, server.request("POST", "/", body: "x" * 1024 * KB).status
    refute_includes server.log, "spool full"
  end

  def test_a_full_disk_is_507_and_the_server_goes_on
    server = serve_spooling(command: with_small_disk, args: ["--log", "log"])

    assert_refused 507, server, "x" * 1100 * KB
    assert_equal 200, server.request("POST", "/", body: "x" * 900 * KB).status
    eventually { assert_match(/no room for a request body.*No space left/, server.directory.read("log")) }
  end

  # EFBIG, from `ulimit -f` or a file system with small files: the body is what cannot be stored. By default, the kernel
  # kills a process with SIGXFSZ.
  def test_a_file_that_may_not_grow_is_507_and_the_server_goes_on
    server = serve_spooling(command: ["sh", "-c", "ulimit -f 2048; exec \"$@\"", "sh", *command])

    assert_refused 507, server, "x" * 2048 * KB
    assert_equal 200, server.request("POST", "/", body: "x" * 1000 * KB).status
  end

  def test_bodies_that_fit_into_memory_need_no_directory
    server = serve_spooling
    FileUtils.rm_r(spool_dir(server))
    client = server.connect
    [{ fields: CHUNKED, body: chunks("ab") }, { body: "x" * 16 * KB }].each do |request|
      assert_equal 200, client.request("POST", "/", **request).read_response.status
    end

    assert_refused 500, server, "x" * 17 * KB
    await_log(server, /cannot spool a request body spool_dir=\S+ cause="No such file/)
  end

  private

  def serve_spooling(app: Support::Gate::APP, args: [], **options)
    serve(app, threads: 1, files: SPOOL, args: [*ARGS, *args], **options)
  end

  # Nothing of a refused body stays, neither an open file nor a name.
  def assert_refused(status, server, body)
    before = spooled(server).size
    client = ask(server, "POST", "/", body: body)

    assert_equal [status, "close"], client.read_response.then { |response| [response.status, response["connection"]] }
    eventually { assert_operator spooled(server).size, :<=, before }
    names = Dir.glob("*", base: spool_dir(server))
    assert_equal Dir.exist?(spool_dir(server)) ? %w[keep] : [], names
  end

  # The sizes of the files without a name that the edge has open.
  def spooled(server)
    Support::ProcessTree.unlinked(server.pid)
  end

  # As the server sees it, which may have mounted something there.
  def spool_dir(server)
    "/proc/#{server.pid}/cwd/spool"
  end

  def command
    Support::ServerOptions::COMMAND
  end

  # A tmpfs that only the server sees.
  def with_small_disk
    mount = "mount -t tmpfs -o size=1m carat spool && touch spool/keep && exec \"$@\""
    unshare = Process.uid.zero? ? %w[unshare --mount] : %w[unshare --mount --map-root-user]
    may_mount = system(*unshare, "mount", "-t", "tmpfs", "carat", "/mnt", err: File::NULL)
    skip "no file system can be mounted here" unless may_mount

    [*unshare, "sh", "-c", mount, "sh", *command]
  end
end
