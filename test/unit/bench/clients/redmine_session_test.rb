# frozen_string_literal: true

require "minitest/autorun"
require "tempfile"
require_relative "../../../../bench/lib/bench"
require_relative "../one_connection"

class BenchRedmineSessionTest < Minitest::Test
  include OneConnection

  PAGE = '<meta name="csrf-token" content="a/b" />'

  def test_a_form_carries_the_cookies_and_the_token_of_its_page
    form = nil
    talk = lambda do |socket|
      receive(socket)
      reply(socket, PAGE, "set-cookie: s=1; path=/\r\n")
      form = receive(socket)
      reply(socket, "")
    end
    serving(talk) do |port|
      session = Bench::RedmineSession.new(port)
      session.open("/login")
      session.patch("/issues/1", "a[b]" => "c")
      session.close
    end

    assert_match(%r{\APOST /issues/1 HTTP/1.1\r\n.*^Cookie: s=1\r\n}m, form)
    assert form.end_with?("authenticity_token=a%2Fb&_method=patch&a%5Bb%5D=c"), form
  end

  def test_a_file_is_the_body_of_its_request
    sent = nil
    serving(->(socket) { (sent = receive(socket)) && reply(socket, "") }) do |port|
      file = Tempfile.new.tap { |it| it.write("bytes") && it.flush }
      session = Bench::RedmineSession.new(port, token: "t")

      assert_equal 200, session.upload("/uploads.js", file.path).status
      session.close
    end

    assert_match(/^X-CSRF-Token: t\r\n.*\r\n\r\nbytes\z/m, sent)
  end

  private

  def receive(socket)
    head = socket.readline("\r\n\r\n")
    head + socket.read(head[/^Content-Length: (\d+)/, 1].to_i)
  end

  def reply(socket, body, fields = "")
    socket.write("HTTP/1.1 200 OK\r\n#{fields}Content-Length: #{body.bytesize}\r\n\r\n#{body}")
  end
end
