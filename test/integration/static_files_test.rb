# frozen_string_literal: true

require "digest"
require "socket"
require "test_helper"

# The files of the `static` option, which the edge serves without Ruby.
class StaticFilesTest < Support::IntegrationTest
  APP = %(run ->(env) { [200, {}, ["application"]] })

  def test_files_are_served_and_everything_else_is_for_the_application
    server = site("public/index.html" => "home", "public/about.html" => "about", "public/a b.txt" => "blank",
                  "public/docs/index.html" => "docs", "public/caf\u00e9.txt" => "raw")
    paths = ["/", "/about", "/about.html?x", "/a%20b.txt", "/docs", "/docs/", "/caf%C3%A9.txt", "/caf\u00e9.txt"]
    bodies = paths.map { |path| server.get(path).body }

    assert_equal %w[home about about blank docs docs raw raw], bodies
    assert_equal ["application"] * 3, ["/none", "/docs/none", "/about/"].map { |path| server.get(path).body }
    assert_equal "application", ask(server, "POST", "/about", body: "x").read_response.body
  end

  def test_compressed_variants_are_preferred_and_text_is_compressed_otherwise
    server = site("public/a.js" => "plain " * 500, "public/a.js.br" => "brotli", "public/b.js" => "plain " * 500)
    coded = server.get("/a.js", fields: { "Accept-Encoding" => "gzip, br" })
    plain = server.get("/a.js")
    packed = server.get("/b.js", fields: { "Accept-Encoding" => "gzip" })

    assert_equal ["br", "brotli", "text/javascript"], [coded["content-encoding"], coded.body, coded["content-type"]]
    assert_equal [nil, "plain " * 500], [plain["content-encoding"], plain.body]
    assert_equal "gzip", packed["content-encoding"]
    assert_equal ["Accept-Encoding"] * 3, [coded, plain, packed].map { |response| response["vary"] }
  end

  def test_new_files_are_found_and_removed_ones_are_gone
    server = site("public/old.txt" => "old")
    server.directory.write("public/new/file.txt", "new")
    eventually(message: "the new file") { server.get("/new/file.txt").body == "new" }
    File.delete(File.join(server.directory.path, "public/old.txt"))

    assert_equal "application", server.get("/old.txt").body
  end

  def test_files_come_while_no_worker_can_answer
    server = serve(%(run ->(_env) { sleep }), config: %(static "public"\n), files: { "public/a.txt" => "a" })
    stuck = Array.new(5) { ask(server, "GET", "/") }

    assert_equal ["a"] * 5, Array.new(5) { server.get("/a.txt").body }
    stuck.each(&:close)
  end

  def test_a_restart_serves_the_directory_that_the_path_names_now
    server = site({ "public/a.txt" => "old" })
    public = File.join(server.directory.path, "public")
    File.rename(public, "#{public}.old")
    server.directory.write("public/a.txt", "new")
    assert_equal "old", server.get("/a.txt").body
    restart(server)

    eventually(message: "the new directory") { server.get("/a.txt").body == "new" }
  end

  private

  def site(files)
    config = %(static "public"\ncompress true\ncompress_min_bytes 100\ncontrol_socket "carat.sock"\n)
    serve(APP, config: config, files: files)
  end

  def restart(server)
    command = [*Support::ServerOptions::COMMAND, "restart", "--control-socket", "carat.sock"]
    assert system(Support::ServerOptions::NEUTRAL_ENV, *command, out: File::NULL, chdir: server.directory.path)
  end
end
