# frozen_string_literal: true

require "digest"
require "json"
require "test_helper"

class UploadExampleTest < Support::IntegrationTest
  EXAMPLE = File.expand_path("../../examples/upload", __dir__)
  FILE = Random.new(1).bytes(3_000_000).freeze
  SHA256 = Digest::SHA256.hexdigest(FILE).freeze
  BOUNDARY = "a-boundary"

  def setup
    super
    app = File.read("#{EXAMPLE}/config.ru").gsub("require_relative \"", "require \"#{EXAMPLE}/")
    @server = serve(app, workers: 2, config: File.read("#{EXAMPLE}/carat.rb"))
  end

  def test_form_is_answered_with_checksum_and_size
    response = post_form("Accept" => "application/json")

    assert_equal ["three.bin", FILE.bytesize, SHA256], receipt(response).values_at("name", "bytes", "sha256")
  end

  def test_put_body_is_the_file
    response = @server.request("PUT", "/some%20name.bin", body: FILE)

    assert_equal ["some name.bin", FILE.bytesize, SHA256], receipt(response).values_at("name", "bytes", "sha256")
  end

  def test_memory_of_every_process_is_told
    await_workers(@server, 2)
    processes = JSON.parse(@server.get("/memory").body)

    assert_equal ["edge", "mold", "worker 1", "worker 2"], processes.map { |process| process.fetch("name") }
    assert_equal @server.pid, processes.first.fetch("pid")
    assert(processes.all? { |process| process.fetch("pss_bytes").positive? })
  end

  def test_page_and_its_parts_are_served
    assert_includes @server.get("/", fields: { "Host" => "127.0.0.1:9292" }).body, "Upload a file"
    %w[/chart.js /upload.js /upload.css /favicon.svg].each { |path| assert_equal 200, @server.get(path).status, path }
  end

  private

  def post_form(fields)
    part = "Content-Disposition: form-data; name=\"file\"; filename=\"three.bin\"\r\n" \
           "Content-Type: application/octet-stream\r\n"
    body = "--#{BOUNDARY}\r\n#{part}\r\n".b << FILE << "\r\n--#{BOUNDARY}--\r\n"
    type = { "Content-Type" => "multipart/form-data; boundary=#{BOUNDARY}" }
    @server.request("POST", "/", fields: type.merge(fields), body: body)
  end

  def receipt(response)
    assert_equal 200, response.status, response.body
    JSON.parse(response.body)
  end
end
