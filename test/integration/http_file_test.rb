# frozen_string_literal: true

require "test_helper"

# Files that are not what the application took them for, or do not stay so.
class HttpFileTest < Support::SharedServerTest
  LARGE = 40 * 1024 * 1024

  APP = <<~'RUBY'
    Named = Struct.new(:to_path) do
      def each = yield("read by each")
      def close = $stderr.puts("closed #{to_path}")
    end
    Unreadable = Struct.new(:to_path) { undef_method :each }
    File.mkfifo("pipe")
    File.symlink("gone", "dangling")
    run lambda { |env|
      headers = env["QUERY_STRING"].empty? ? {} : { "content-length" => env["QUERY_STRING"] }
      name = env["PATH_INFO"].delete_prefix("/")
      body = name.delete_prefix!("unreadable-") ? Unreadable.new(name) : Named.new(name)
      [200, headers, name == "next" ? ["next"] : body]
    }
  RUBY

  serves APP, files: { "small" => "0123456789" }

  def test_a_file_that_is_not_there_is_an_internal_server_error
    client = connect
    %w[/gone /dangling].each { |path| assert_equal 500, client.get(path).status, path }

    await_log(server, /GET \/gone: .*No such file or directory.*\(Errno::ENOENT\)/)
    await_log(server, /closed gone/)
    assert_equal "next", client.get("/next").body
  end

  def test_a_path_of_something_else_is_read_by_each_and_stops_nobody
    assert_equal ["read by each"] * 2, %w[/pipe /.].map { |path| server.get(path).body }
    assert_equal 500, server.get("/unreadable-pipe").status
    assert_equal "next", server.get("/next").body
  end

  def test_a_file_that_shrinks_while_it_is_sent_closes_the_connection
    before = descriptors
    client = large("shrinking")
    File.truncate(path_of("shrinking"), 100)

    assert_raises(EOFError) { client.read_response }
    eventually { assert_operator descriptors, :<=, before }
    assert_equal "next", server.get("/next").body
  end

  def test_a_file_that_is_replaced_while_it_is_sent_is_sent_as_it_was
    client = large("replaced")
    File.write(path_of("other"), "other")
    File.rename(path_of("other"), path_of("replaced"))

    assert_equal LARGE, client.read_response.body.count("\0")
  end

  def test_a_file_that_grows_while_it_is_sent_ends_where_it_ended
    client = large("growing")
    File.write(path_of("growing"), "more", mode: "a")

    assert_equal LARGE, client.read_response.body.bytesize
    assert_equal "next", client.get("/next").body
  end

  def test_a_file_of_another_length_than_declared_keeps_the_connection_in_step
    client = connect

    assert_equal %w[0123 4], client.get("/small?4").then { |response| [response.body, response["content-length"]] }
    assert_equal %w[0123456789 10], client.get("/small?99").then { |r| [r.body, r["content-length"]] }
    assert_equal ["", "0"], client.get("/small?0").then { |response| [response.body, response["content-length"]] }
    assert_equal "next", client.get("/next").body
  end

  private

  def path_of(name)
    File.join(server.directory.path, name)
  end

  # A client that has not read what it has asked for: a large file of this name.
  def large(name)
    File.open(path_of(name), "w") { |file| file.truncate(LARGE) }
    client = connect
    client.request("GET", "/#{name}")
    assert client.socket.wait_readable(Support::RawClient::WITHIN), "no answer"
    client
  end
end
