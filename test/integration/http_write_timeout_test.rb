# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Clients that do not take their answers, or take them too slowly.
class HttpWriteTimeoutTest < Support::SharedServerTest
  TIMEOUT = 0.5
  LARGE = 40 * 1024 * 1024
  STEP = 6 * 1024
  GRACE = 10

  APP = <<~'RUBY'
    piece = "x" * 65_536
    Named = Struct.new(:to_path)
    Pieces = Struct.new(:name, :pieces) do
      def each(&block) = pieces.call(block)
      def close = $stderr.puts("closed #{name}")
    end
    File.open("large", "w") { |file| file.truncate(40 * 1024 * 1024) }
    quiet = lambda do |write|
      write.call("first\n")
      sleep 0.005 until File.exist?("gate")
      write.call("second\n")
    end
    answers = {
      "/string" => ->(env) { ["x" * env["QUERY_STRING"].to_i] },
      "/file" => ->(_env) { Named.new("large") },
      "/endless" => ->(env) { Pieces.new("/endless", ->(write) { loop { write.call(piece) } }) },
      "/quiet" => ->(_env) { Pieces.new("/quiet", quiet) }
    }
    run ->(env) { [200, {}, answers.fetch(env["PATH_INFO"], ->(_env) { [env["PATH_INFO"]] }).call(env)] }
  RUBY

  serves APP, threads: 3, args: ["--write-timeout", TIMEOUT.to_s, "--access-log"]

  %W[/string?#{LARGE} /file /endless].each do |path|
    define_method("test_a_client_that_reads_nothing_of_#{path[/\w+/]}_is_cut_and_all_it_held_is_given_back") do
      before = descriptors
      started = Support::Eventually.now
      client = connect.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
      eventually { assert_includes log, "#{path} HTTP/1.1\" 200" }

      assert_operator Support::Eventually.now - started, :>=, TIMEOUT
      assert_operator client.read_to_end.bytesize, :<, LARGE
      assert_predicate client, :reset_by_peer?
      eventually { assert_operator descriptors, :<=, before + 1 } # the client that it has forgotten
      assert_equal "/next", server.get("/next").body
    end
  end

  def test_a_stream_is_closed_when_its_client_is_cut
    connect.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")

    eventually { assert_includes log, "closed /endless" }
    eventually { assert_includes log, "/endless HTTP/1.1\" 200" } # or the next test would take it for its own
    refute_includes log, "Error"
  end

  def test_a_client_below_the_rate_is_cut_and_one_that_waits_for_the_application_is_not
    strict = over_unix("--write-timeout", "60", "--write-min-rate", "100MB")
    quiet = strict.connect.write("GET /quiet HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    quiet.read_exactly(1)
    slow = strict.connect.write("GET /string?#{LARGE} HTTP/1.1\r\nHost: a\r\n\r\n")
    started = Support::Eventually.now
    assert_raises(EOFError) { eventually { slow.read_exactly(STEP).nil? } }

    assert_operator Support::Eventually.now - started, :>=, GRACE
    strict.gate.open
    assert_match(/second\n.*0\r\n\r\n\z/m, quiet.read_to_end)
  end

  private

  def over_unix(*args)
    @sockets = @sockets.to_i + 1
    socket = "unix://#{Dir.tmpdir}/carat-write-#{Process.pid}-#{object_id}-#{@sockets}.sock"
    serve(APP, threads: 2, binds: [socket], args: args)
  end
end
