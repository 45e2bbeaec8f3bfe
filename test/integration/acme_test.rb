# frozen_string_literal: true

require "etc"
require "fileutils"
require "test_helper"

# Certificates from an authority.
class ACMETest < Support::IntegrationTest
  include Support::AcmeServer

  needs(Support::Pebble.obstacle)

  APP = 'run ->(env) { [200, {}, ["hello #{env["PATH_INFO"]}"]] }' # rubocop:disable Lint/InterpolationCheck

  def test_a_certificate_is_issued_for_each_name_and_outlives_an_upgrade_and_a_stop
    server = serve_names("one.example,two.example")
    await_issued(server, 2)
    serial = handshake("one.example").serial

    assert_equal %w[one.example], names(handshake("one.example"))
    assert_equal %w[two.example], names(handshake("two.example"))
    assert_equal "hello /", get("one.example", "/")
    assert_equal %w[700 600 600], [".", "account.pem", "one.example/certificate.pem"].map { |path| mode(path) }
    assert_equal 0, carat(server, "upgrade").last
    assert_equal serial, handshake("one.example").serial
    stop = carat(server, "stop")
    assert_equal 0, stop.last
    server.wait

    again = serve_names("one.example,two.example")
    assert_equal serial, handshake("one.example").serial
    refute_match(/certificate (?:not )?issued/, again.log)
  end

  def test_a_server_that_drops_root_asks_and_keeps_as_its_user
    skip "only root can become another user" unless Process.uid.zero?
    server = server(app: APP, binds: binds("one.example"), files: { "authority.pem" => pebble.authority },
                    args: [*flags, "--user", "nobody"])
    owner = Etc.getpwnam("nobody").uid
    [@storage, server.directory.path].each { |path| File.chown(owner, nil, path) }
    await_issued(server.start, 1)
    serial = handshake("one.example").serial

    assert_equal [owner] * 2, (%w[account.pem one.example/certificate.pem].map { |path| File.stat(kept(path)).uid })
    assert_equal 0, carat(server, "upgrade").last
    assert_equal serial, handshake("one.example").serial
    carat(server, "stop")
  end

  def test_a_certificate_that_is_due_is_renewed_over_http_while_other_paths_reach_the_application
    await_issued(server = serve_names("one.example"), 1)
    serial = handshake("one.example").serial
    server.stop
    fake_status("one.example", failures: 1, due: 0, error: "no luck")
    server = serve_names("one.example")
    response = eventually { File.read(kept("one.example/response")) if File.exist?(kept("one.example/response")) }
    token = response[/[^.]+/]

    eventually { ask_plain(server, token).body == response }
    assert_equal "hello /.well-known/acme-challenge/x#{token}", ask_plain(server, "x#{token}").body
    await_issued(server, 1)
    refute_equal serial, handshake("one.example").serial
    assert_equal "hello /.well-known/acme-challenge/#{token}", ask_plain(server, token).body
  end

  def test_a_name_without_a_certificate_gets_an_alert_and_the_others_are_served
    server = serve_names("blocked.example,one.example", plain: false)
    await_issued(server, 1)

    await_log(server, /not issued name=blocked\.example reason="the authority answered 400: .*forbidden by policy/)
    assert_equal %w[one.example], names(handshake("blocked.example"))
    status = status(server).fetch("certificates")
    blocked, one = status.sort_by { |row| row["name"] }
    assert_match(/forbidden by policy/, blocked.fetch("error"))
    assert_operator one.fetch("expires"), :>, Time.now.to_i + (80 * 86_400)
    assert_match(/^certificate of blocked\.example: none, next attempt in .*: the authority answered 400/,
                 carat(server, "status").first)
    assert_match(/^certificate of one\.example: expires in (?:89|90) d, renewal in \d+ d$/,
                 carat(server, "status").first)
  end

  def test_the_server_starts_and_says_so_while_the_authority_cannot_be_reached
    server = serve(APP, binds: binds("one.example"), args: flags("https://localhost:#{Support::Pebble.free_port}/dir"))

    await_log(server, /certificate not issued name=one\.example reason="localhost: .*refused/)
    assert_match(/access denied/, assert_raises(OpenSSL::SSL::SSLError) { handshake("one.example") }.message)
    assert_equal 200, server.connect(server.urls.last).get.status
  end

  def test_only_an_authority_learns_how_a_name_is_proved
    await_issued(serve_names("one.example"), 1)

    [%w[acme-tls/1], %w[acme-tls/1 h2]].zip([nil, "h2"]) do |offered, chosen|
      found = begin
        connect("one.example", alpn_protocols: offered, &:alpn_protocol)
      rescue OpenSSL::SSL::SSLError
        nil
      end
      chosen ? assert_equal(chosen, found) : assert_nil(found)
    end
  end

  def test_refused_nonces_are_no_failure
    server = serve_names("one.example", authority: pebble(PEBBLE_WFE_NONCEREJECT: 30))
    await_issued(server, 1)
    server.stop
    FileUtils.rm_rf(kept("one.example"))

    again = serve_names("one.example")
    await_issued(again, 1)
    refute_match(/not issued/, server.log + again.log)
  end

  def test_an_account_is_bound_to_the_one_that_the_authority_knows
    key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
    pebble(config: { externalAccountBindingRequired: true, externalAccountMACKeys: { "kid-1" => key } })
    server = serve_names("one.example")
    await_log(server, /not issued name=one\.example reason="the authority answered 403: .*externalAccountBinding/)
    server.stop
    FileUtils.rm_rf(kept("one.example"))

    bound = serve_names("one.example", env: { "CARAT_ACME_EAB_KEY" => key }, more: %w[--acme-eab-kid kid-1])
    await_issued(bound, 1)
    assert_equal %w[one.example], names(handshake("one.example"))
  end

  def test_servers_that_share_the_directory_ask_once
    pebble
    servers = [binds("one.example"), binds("one.example", tls: 0, http: 0)].map do |binds|
      server(app: APP, binds: binds, files: { "authority.pem" => pebble.authority }, args: flags).tap(&:launch)
    end
    await_log(servers.last, /listening url=https/)
    serials = eventually(within: WITHIN) do
      ports = servers.map { |it| it.log[%r{listening url=https://127\.0\.0\.1:(\d+)}, 1] }
      ports.map { |port| handshake("one.example", port: port).serial }
    rescue SystemCallError, OpenSSL::SSL::SSLError
      nil
    end

    assert_equal 1, serials.uniq.size
    assert_equal 1, servers.sum { |it| it.log.scan("certificate issued").size }
  end

  def test_a_directory_that_cannot_be_written_to_is_a_sentence
    File.write(File.join(@storage, "file"), "")
    args = flags("https://localhost:1/dir", storage: "#{@storage}/file/acme")
    server = serve(APP, binds: binds("one.example"), args: args)

    await_log(server, /certificates not issued reason=".*must be able to write to .*acme_storage/)
  end
end
