# frozen_string_literal: true

require "digest"
require "test_helper"

# The files that the edge takes out of forms: what bounds them, who holds them, and when they are gone.
class FormFilesTest < Support::IntegrationTest
  include Support::FormBody

  SPOOL = { "spool/keep" => "" }.freeze
  ARGS = %w[--multipart edge --spool-dir spool].freeze
  APP = <<~'RUBY'
    require "digest"
    kept = []
    digest = ->(file) { Digest::SHA256.hexdigest(file.read) }
    parsed = ->(env) { Rack::Request.new(env).POST["file"]&.fetch(:tempfile) }
    answers = {
      "/" => ->(env) { parsed.call(env).then { |file| file ? digest.call(file) : "none" } },
      "/keep" => ->(env) { (kept << parsed.call(env)).size.to_s },
      "/kept" => ->(_env) { kept.map { |file| digest.call(file.tap(&:rewind)) }.join(" ") },
      "/move" => ->(env) { FileUtils.mv(parsed.call(env).path, "moved").to_s },
      "/path" => ->(env) { parsed.call(env).path },
      "/close" => ->(env) { parsed.call(env).close!.to_s },
      "/unread" => ->(env) { env["rack.input"].read },
      "/die-once" => lambda do |env|
        file = parsed.call(env)
        file.read(5)
        File.exist?("died") ? digest.call(file.tap(&:rewind)) : [File.write("died", ""), Process.kill(:KILL, $$)].to_s
      end
    }
    run ->(env) { [200, {}, [answers.fetch(env["PATH_INFO"]).call(env)]] }
  RUBY

  def test_max_body_counts_the_files_too
    server = serve_forms(args: %w[--max-body 30KB])
    assert_equal 200, post(server, form(file("file"))).status
    body = form(file("file"), file("more"))
    chunked = "#{body.bytesize.to_s(16)}\r\n".b << body << "\r\n0\r\n\r\n"
    assert_equal 413, post(server, chunked, fields: { "Transfer-Encoding" => "chunked" }).status
  end

  def test_the_spool_limit_counts_the_files_and_their_room_is_given_back
    server = serve_forms(args: %w[--spool-limit 50KB])
    3.times do
      eventually do
        response = post(server, form(file("file"), file("b")))
        assert_equal [200, digest], [response.status, response.body]
      end
    end
    assert_equal 503, post(server, form(file("file"), file("b"), file("c"))).status
    eventually { assert_equal 200, post(server, form(file("file"), file("b"))).status }
  end

  def test_a_client_that_disappears_leaves_nothing
    server = serve_forms
    leaving = begin_form(server, form(file("file"), file("b", '"b"', "x" * 1_000_000)))
    eventually { assert_equal 2, spooled(server).size }
    leaving.close
    eventually { assert_empty spooled(server) }
    assert_equal %w[keep], names(server)
  end

  def test_a_form_that_is_still_arriving_holds_no_worker
    server = serve_forms
    body = form(file("file"), file("b", '"b"', "x" * 1_000_000))
    slow = begin_form(server, body)
    eventually { assert_equal 2, spooled(server).size }
    assert_equal [200, digest], post(server, form(file("file"))).then { |response| [response.status, response.body] }

    slow.write(body.byteslice(500_000..))
    assert_equal digest, slow.read_response.body
  end

  def test_a_file_that_the_application_keeps_stays_and_others_go_with_their_request
    server = serve_forms
    2.times { post(server, form(file("file"), file("b")), path: "/keep") }
    worker = server.workers.values.first
    assert_equal [digest, digest].join(" "), server.get("/kept").body

    20.times { post(server, form(file("file")), path: "/close") }
    20.times { post(server, form(file("file")), path: "/unread") }
    server.get
    assert_operator Support::ProcessTree.unlinked(worker).size, :<=, 4
    eventually { assert_empty spooled(server) }
  end

  def test_a_file_can_be_moved_and_its_name_goes_when_it_is_not
    server = serve_forms
    post(server, form(file("file")), path: "/move")
    assert_equal digest, Digest::SHA256.hexdigest(server.directory.read("moved").b)

    path = post(server, form(file("file", '"a.png"')), path: "/path").body
    assert_match %r{\A#{server.directory.path}/spool/RackMultipart\S+\.png\z}, path
    assert_path_exists path
    server.stop
    assert_equal %w[keep], names(server)
  end

  def test_an_application_without_rack_sees_the_skeleton
    server = serve_forms
    response = post(server, form(field("a", "1"), file("file")), path: "/unread")
    assert_equal form(field("a", "1"), file("file", '"a.bin"', "")), response.body
    small = form(file("file", '"a.bin"', "small"))
    assert_equal small, post(server, small, path: "/unread").body
  end

  def test_a_form_whose_worker_dies_over_it_and_that_may_be_asked_again_has_its_files_then
    server = serve_forms
    response = server.request("GET", "/die-once", fields: { "Content-Type" => TYPE }, body: form(file("file")))
    assert_equal [200, digest], [response.status, response.body]
    await_log(server, /worker died/)
  end

  def test_more_files_than_one_message_carries
    server = serve_forms(args: %w[--max-files 600], env: { "RACK_MULTIPART_FILE_LIMIT" => "0" })
    parts = Array.new(300) { |number| file(number.to_s) } << file("file", '"x"', "#{CONTENT}!")
    assert_equal Digest::SHA256.hexdigest("#{CONTENT}!"), post(server, form(*parts)).body
  end

  private

  def serve_forms(args: [], **options)
    serve(APP, workers: 1, threads: 1, files: SPOOL, args: [*ARGS, *args], **options)
  end

  # Sends the head and the first half of a form of a megabyte.
  def begin_form(server, body)
    server.connect.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: #{TYPE}\r\n" \
                         "Content-Length: #{body.bytesize}\r\n\r\n".b << body.byteslice(0, 500_000))
  end

  def post(server, body, path: "/", fields: {})
    server.request("POST", path, fields: { "Content-Type" => TYPE, **fields }, body: body)
  end

  def digest
    Digest::SHA256.hexdigest(CONTENT)
  end

  # The sizes of the files without a name that the edge has open.
  def spooled(server)
    Support::ProcessTree.unlinked(server.pid)
  end

  def names(server)
    Dir.children(File.join(server.directory.path, "spool")).grep_v(/\.sock\z/)
  end
end
