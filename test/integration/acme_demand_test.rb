# frozen_string_literal: true

require "fileutils"
require "openssl"
require "socket"
require "test_helper"

# Certificates for names that clients ask for and that the application calls its own.
class ACMEDemandTest < Support::IntegrationTest
  include Support::AcmeServer

  needs(Support::Pebble.obstacle)

  # Writes each question to a file, and owns what another file lists.
  APP = <<~'RUBY'
    run(lambda do |env|
      next [200, {}, ["hello #{env["HTTP_HOST"]}"]] unless env["PATH_INFO"] == "/domains" && env["carat.part"]

      name = env["QUERY_STRING"][/\Adomain=(.+)\z/, 1]
      File.write("questions", "#{name}\n", mode: "a")
      [File.read("own").split.include?(name) ? 200 : 404, {}, []]
    end)
  RUBY
  # A machine that does much else needs longer than the default for an authority and a validation.
  PATIENT = %w[--handshake-timeout 60].freeze

  def test_a_client_waits_for_the_certificate_of_a_name_that_the_application_calls_its_own
    server = serve_own("a.example b.example")

    assert_equal %w[a.example], names(handshake("a.example"))
    assert_equal "hello b.example", get("b.example", "/domains?domain=c.example")
    serial = handshake("A.Example").serial
    assert_equal %w[a.example b.example], questions(server)
    assert_match(/^certificates on demand: 2$/, carat(server, "status").first)
    server.stop

    # The application is not asked about what is kept.
    again = serve_own("")
    assert_equal serial, handshake("a.example").serial
    assert_empty questions(again)
  end

  def test_other_names_are_refused_and_cost_one_question
    server = serve_own("a.example", listed: "one.example,")
    await_issued(server, 1)

    3.times { assert_equal %w[one.example], names(handshake("other.example")) }
    ["localhost", "127.0.0.1", "a_b.example", "..", "-.example"].each { |name| handshake(name) }
    assert_equal %w[other.example], questions(server)
    refute_path_exists kept("other.example")
  end

  def test_random_names_cause_few_questions_and_no_order
    server = serve_own("")
    assert_refused("a0.example")
    await_log(server, /handshakes failed .*"no certificate for a0\.example: the application says that the name is not/)
    30.times { |number| assert_refused("a#{number}.example") }

    # Ten a minute for a client.
    assert_includes 10..20, questions(server).size
    await_log(server, /no certificate for a\d+\.example: the application is asked about too many names/)
    assert_empty Dir.glob(File.join(@storage, "*/*.example"))
  end

  def test_an_application_that_does_not_answer_holds_a_client_for_two_seconds
    silent = TCPServer.new("127.0.0.1", 0)
    server = serve_own("a.example", ask: "http://127.0.0.1:#{silent.addr[1]}/domains")
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_refused("a.example")

    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 30
    await_log(server, /no certificate for a\.example: acme_ask: no answer within 2 s/)
    assert_match(%r{\AGET /domains\?domain=a\.example HTTP/1\.1\r\nhost: 127}, silent.accept.readpartial(1000))
  ensure
    silent&.close
  end

  def test_a_name_that_the_application_gives_up_is_not_renewed
    server = serve_own("a.example b.example")
    serials = %w[a.example b.example].map { |name| handshake(name).serial }
    server.stop
    fake_status("a.example", expires: Time.now.to_i + 1000, failures: 0, due: 0)
    again = serve_own("b.example")

    await_log(again, /certificate given up name=a\.example reason="the application says/)
    assert_refused("a.example")
    assert_equal serials.last, handshake("b.example").serial
  end

  def test_a_name_that_cannot_be_issued_is_not_ordered_again_at_once
    server = serve_own("blocked.example")
    2.times { assert_refused("blocked.example") }

    assert_equal %w[blocked.example], questions(server)
    assert_equal 1, server.log.scan("certificate not issued name=blocked.example").size
  end

  private

  def serve_own(own, listed: "", ask: "/domains")
    files = { "authority.pem" => pebble.authority, "own" => own }
    serve(APP, binds: binds("#{listed}*"), files: files, args: [*flags, *PATIENT, "--acme-ask", ask])
  end

  def questions(server)
    File.readlines(File.join(server.directory.path, "questions"), chomp: true)
  rescue Errno::ENOENT
    []
  end
end
