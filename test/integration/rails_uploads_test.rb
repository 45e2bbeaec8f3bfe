# frozen_string_literal: true

require "base64"
require "digest"
require "test_helper"

# Uploads through ActiveStorage with its disk service: in a form, or directly before the form is sent.
class RailsUploadsTest < Support::ShopTest
  include Support::FormBody

  # Larger than what travels in memory.
  CONTENT = Random.new(1).bytes(3 << 20)
  NAME = "b\u00fccher.bin"

  def test_a_form_with_a_file_by_the_edge_and_as_a_stream
    in_threads_and_fibers do |options|
      assert_form_upload({ args: %w[--multipart edge], **options })
      assert_form_upload({ args: %w[--request-body stream], **options }) if options.key?(:threads)
    end
  end

  def test_a_form_with_a_file_and_a_direct_upload
    assert_form_upload(threads: 2)
    blob = json(announce(CONTENT.bytesize))
    assert_equal 204, put(blob, CONTENT).status

    page = create("photo[title]" => "T", "photo[file]" => blob.fetch("signed_id"),
                  "authenticity_token" => @someone.token)
    assert_download(page)
  end

  def test_a_direct_upload_that_is_not_what_was_announced_is_refused
    @someone = visitor(shop(threads: 2))
    blob = json(announce(CONTENT.bytesize))

    assert_equal 422, put(blob, "#{CONTENT[0..-2]}?").status
    assert_equal 422, put(blob, CONTENT[0..-2]).status
    assert_equal 404,
                 put({ "direct_upload" => { "url" => "/rails/active_storage/disk/forged", "headers" => {} } },
                     "a").status
    assert_equal 422, announce(1, token: "forged").status
  end

  def test_a_file_is_downloaded_through_the_application
    @someone = visitor(shop(env: { "PROXY" => "1" }, threads: 2))
    page = upload
    path = path_of(@someone.request("GET", path_of(page)))
    assert_match(%r{/rails/active_storage/blobs/proxy/}, path)

    assert_equal CONTENT, @someone.request("GET", path).body
    return if Rails.version < "7.0" # knows no ranges here

    part = @someone.request("GET", path, fields: { "Range" => "bytes=1048576-1048579" })
    assert_equal [206, CONTENT[1_048_576..1_048_579]], [part.status, part.body]
  end

  # What the job has used (its pool of threads, a connection) keeps no worker from becoming the mold.
  def test_a_job_that_deletes_a_file_lets_its_worker_become_the_mold
    in_threads_and_fibers do |options|
      @someone = visitor(shop(args: %w[--refork 5,1000000], **options))
      path = path_of(upload)
      blobs = File.join(@someone.server.directory.path, "storage/??/??/*")
      refute_empty Dir[blobs]
      fields = { "X-CSRF-Token" => @someone.token }
      assert_equal 202, @someone.request("DELETE", path, fields: fields).status

      eventually { Dir[blobs].empty? }
      eventually { json(@someone.request("GET", "/workers/show")).fetch("generation") == 2 }
      assert_download(upload)
    end
  end

  private

  def assert_form_upload(options)
    @someone = visitor(shop(**options))
    assert_download(upload)
    eventually { Support::ProcessTree.unlinked(@someone.server.pid).empty? }
  end

  def upload
    fields = [field("authenticity_token", @someone.token), field("photo[title]", "T"),
              file("photo[file]", "\"#{NAME}\"", CONTENT)]
    @someone.request("POST", "/photos", fields: { "Content-Type" => TYPE }, body: form(*fields))
  end

  def create(fields)
    @someone.request("POST", "/photos", fields: FORM, body: URI.encode_www_form(fields))
  end

  # What the page's script sends before it sends the file.
  def announce(bytes, token: @someone.token)
    blob = { filename: NAME, content_type: "application/octet-stream", byte_size: bytes,
             checksum: Digest::MD5.base64digest(CONTENT) }
    fields = { "Content-Type" => "application/json", "X-CSRF-Token" => token }
    @someone.request("POST", "/rails/active_storage/direct_uploads", fields: fields, body: JSON.generate(blob: blob))
  end

  def put(blob, content)
    url, headers = blob.fetch("direct_upload").values_at("url", "headers")
    @someone.request("PUT", url.delete_prefix("http://localhost"), fields: headers, body: content)
  end

  # Through the page of the photo and the redirections of ActiveStorage.
  def assert_download(page)
    assert_equal 302, page.status, page.body
    file = 3.times.inject(page) { |response, _| @someone.request("GET", path_of(response)) }

    assert_equal [200, CONTENT.bytesize], [file.status, file.content_length]
    assert_equal Digest::SHA256.hexdigest(CONTENT), Digest::SHA256.hexdigest(file.body)
    assert_includes file["content-disposition"], "b%C3%BCcher.bin"
    part = @someone.request("GET", path_of(@last), fields: { "Range" => "bytes=5-9" })
    assert_equal [206, CONTENT[5..9]], [part.status, part.body]
  end

  def path_of(response)
    assert_equal 302, response.status, response.body
    @last = response
    response["location"].delete_prefix("http://localhost")
  end
end
