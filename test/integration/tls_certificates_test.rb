# frozen_string_literal: true

require "test_helper"

class TlsCertificatesTest < Support::IntegrationTest
  AUTHORITY = Support::TestCertificate.new
  APP = 'run ->(_env) { [200, {}, ["hello"]] }'

  def test_the_name_that_the_client_asks_for_chooses_the_certificate
    server = serve_with(one: %w[one.test], many: %w[two.test *.two.test])

    { "one.test" => "one.test", "two.test" => "two.test", "TWO.test" => "two.test", "a.two.test" => "two.test" }
      .each { |name, subject| assert_equal subject, subject_for(server, name), name }
  end

  def test_a_name_that_no_certificate_has_gets_the_first
    server = serve_with(one: %w[one.test], many: %w[two.test *.two.test])

    %w[other.test a.b.two.test].each { |name| assert_equal "one.test", subject_for(server, name), name }
  end

  def test_a_folder_has_all_its_certificates
    files = signed("b.test").files("certs/b").merge(pem_folder("certs/a.test", signed("a.test")))
    server = serve(APP, binds: ["tls://127.0.0.1:0?certs=certs"], files: files.merge("certs/README" => "-"))

    assert_equal(%w[a.test b.test a.test], %w[a.test b.test c.test].map { |name| subject_for(server, name) })
  end

  def test_renewed_files_are_taken_up_and_connections_stay
    server = serve_with(one: %w[one.test])
    client = connect(server, "one.test")
    before = client.ssl.peer_cert.serial
    replace(server, signed("one.test"), "one")
    server.kill(:HUP)

    await_log(server, /certificates renewed/)
    refute_equal before, connect(server, "one.test").ssl.peer_cert.serial
    assert_equal "hello", client.get.body
  end

  def test_a_new_certificate_in_a_folder_is_taken_up
    server = serve(APP, binds: ["tls://127.0.0.1:0?certs=certs"], files: signed("a.test").files("certs/a"))
    replace(server, signed("b.test"), "certs/b")
    server.kill(:HUP)

    await_log(server, /certificates renewed/)
    assert_equal "b.test", subject_for(server, "b.test")
  end

  def test_files_that_do_not_belong_together_replace_nothing
    server = serve_with(one: %w[one.test])
    before = connect(server, "one.test").ssl.peer_cert.serial
    renewed = signed("one.test")
    server.directory.write("one.crt", renewed.files("one")["one.crt"])
    server.kill(:HUP)

    await_log(server, /certificates not renewed reason=.*does not belong to the certificate/)
    assert_equal before, connect(server, "one.test").ssl.peer_cert.serial

    replace(server, renewed, "one")
    server.kill(:HUP)
    await_log(server, /certificates renewed/)
    assert_equal renewed.certificate.serial, connect(server, "one.test").ssl.peer_cert.serial
  end

  def test_a_fifo_in_place_of_a_key_does_not_keep_others_from_being_renewed
    server = serve_with(one: %w[one.test], two: %w[two.test])
    path = File.join(server.directory.path, "one.key")
    File.delete(path)
    File.mkfifo(path)
    replace(server, signed("three.test"), "two")
    server.kill(:HUP)

    await_log(server, /certificates not renewed reason=.*one\.key: it is not a regular file/)
    await_log(server, /certificates renewed/)
    assert_equal(%w[one.test three.test], %w[one.test three.test].map { |name| subject_for(server, name) })
  end

  private

  def signed(*names)
    Support::TestCertificate.new(*names, issuer: AUTHORITY)
  end

  def pem_folder(folder, certificate)
    crt, key = certificate.files("x").values
    { "#{folder}/fullchain.pem" => crt, "#{folder}/privkey.pem" => key }
  end

  # A server with the certificates of these names, by the names of their files.
  def serve_with(**certificates)
    files = certificates.map { |file, names| signed(*names).files(file) }.reduce(:merge)
    query = certificates.keys.map { |file| "cert=#{file}.crt&key=#{file}.key" }.join("&")
    serve(APP, binds: ["tls://127.0.0.1:0?#{query}"], files: files)
  end

  # As tools do: each file is renamed into its place.
  def replace(server, certificate, name)
    certificate.files(name).each do |path, content|
      server.directory.write("#{path}.new", content)
      File.rename(File.join(server.directory.path, "#{path}.new"), File.join(server.directory.path, path))
    end
  end

  def connect(server, name)
    Support::TlsClient.connect(server, trust: AUTHORITY.certificate, name: name)
  end

  # The subject of the certificate that a client gets for a name, which it need not be for.
  def subject_for(server, name)
    client = Support::TlsClient.connect(server, trust: AUTHORITY.certificate, name: name) do |context|
      context.verify_hostname = false
    end
    client.ssl.peer_cert.subject.to_a.dig(0, 1)
  ensure
    client&.close
  end
end
