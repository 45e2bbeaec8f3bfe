# frozen_string_literal: true

require "test_helper"

# Changed files are loaded before the next request.
class ReloadTest < Support::IntegrationTest
  include Support::ControlledServer

  CODE = <<~'RUBY'
    require_relative "lib/page"
    run ->(env) { [200, {}, [Page.text(env["PATH_INFO"])]] }
  RUBY
  HTML = { "Accept" => "text/html,application/xhtml+xml" }.freeze

  def test_request_after_a_change_gets_the_new_code
    [{ threads: 3, workers: 2 }, { fibers: 16, workers: nil, env: { "WEB_CONCURRENCY" => "0" } }].each do |size|
      server = start(**size)
      client = server.connect
      3.times do |version|
        write(server, version)

        assert_equal "#{version} /", client.request("GET", "/").read_response.body
      end

      refute_match(/ error /, server.log)
    end
  end

  def test_change_in_place_removal_or_in_a_new_directory_is_seen
    server = start
    server.directory.write("lib/page.rb", page("written"))

    assert_equal "written /", server.get.body
    File.unlink(path(server, "lib/page.rb"))

    assert_match(%r{\Aconfig.ru:1: cannot load such file -- \S+/lib/page \(LoadError\)$}, server.get.body)
    server.directory.replace("lib/new/part.rb", "PART = 'part'")
    server.directory.replace("lib/page.rb", %(require_relative "new/part"\n#{page("\#{PART}")}))

    assert_equal "part /", server.get.body
    server.directory.replace("lib/new/part.rb", "PART = 'other'")

    assert_equal "other /", server.get.body
  end

  def test_templates_and_configuration_are_sources_and_other_files_are_not
    server = start(files: { "views/a.erb" => "one", "log/x.rb" => "", "data.json" => "1" })
    gets_new_code(server) { server.directory.replace("views/a.erb", "two") }
    gets_new_code(server) { server.directory.replace("config.ru", "#{CODE}\n") }
    %w[log/x.rb data.json tmp/x.rb db/schema.rb node_modules/x/y.rb .git/x.rb].each do |name|
      server.directory.replace(name, "2")
    end
    server.directory.replace("views/a.erb", "two")

    assert_equal "0 /", server.get.body
    assert_equal 2, server.log.scan(" info restarting").size
  end

  def test_error_is_a_page_with_file_and_line_until_it_is_mended
    server = start
    server.directory.replace("lib/page.rb", "module Page\n  <script>")
    page = server.get("/", fields: HTML)

    assert_equal [500, "text/html; charset=utf-8"], [page.status, page["content-type"]]
    assert_match(%r{<code>GET /</code>.*<pre>lib/page\.rb:2: .*&lt;script&gt;}m, page.body)
    text = server.get("/", fields: { "Accept" => "application/json" })

    assert_equal [500, "text/plain; charset=utf-8"], [text.status, text["content-type"]]
    assert_match(%r{\Alib/page.rb:2: .*\(SyntaxError\)$.*<script>}m, text.body)
    assert_equal 500, server.request("POST", "/", body: "x" * 200_000).status
    assert_equal "", server.request("HEAD", "/").body
    write(server, "mended")

    assert_equal "mended /", server.get.body
  end

  def test_any_error_of_a_boot_is_a_page
    server = start(config: "workers 1\n")
    { "lib/page.rb" => ["raise 'no database'", %r{\Alib/page.rb:1: no database \(RuntimeError\)}],
      "carat.rb" => ["workers 'many'\n", /\Acarat.rb:1: workers: "many" is not a number of workers/] }
      .each do |name, (content, message)|
      before = File.read(path(server, name))
      server.directory.replace(name, content)

      assert_match message, server.get.body
      server.directory.replace(name, before)

      assert_equal "0 /", server.get.body
    end
    server.directory.replace("carat.rb", "workers 1\non_worker_boot { raise 'no cache' }\n")

    assert_match(/the first new worker failed: carat.rb:2: no cache/, server.get.body)
  end

  def test_error_that_is_not_in_the_files_goes_when_it_is_fixed
    server = start(app: "File.read('database')\n#{CODE}", files: { "database" => "" })
    File.unlink(path(server, "database"))
    write(server, 1)

    assert_match(/\Aconfig.ru:1: No such file or directory/, server.get.body)
    server.directory.replace("database", "")

    eventually(message: "another attempt") { server.get.body == "1 /" }
  end

  def test_burst_of_changes_is_loaded_at_most_twice
    server = start(files: Array.new(100) { |n| ["lib/part#{n}.rb", ""] }.to_h)
    100.times { |n| server.directory.replace("lib/part#{n}.rb", "PART#{n} = 1") }
    write(server, "burst")

    assert_equal "burst /", server.get.body
    assert_operator server.log.scan(" info restarting").size, :<=, 2
  end

  def test_application_that_writes_its_own_files_is_not_loaded_for_ever
    server = start(app: %(File.write("lib/own.rb", "# \#{Process.pid}")\n#{CODE}))
    write(server, 1)
    await_log(server, /info restarted/)

    assert_equal "1 /", server.get.body
    5.times { assert_equal "1 /", server.get.body }
    assert_operator server.log.scan(" info restarting").size, :<=, 8
  end

  def test_change_is_loaded_before_anybody_asks
    server = start
    write(server, 1)
    await_log(server, /info restarted/)

    assert_equal "1 /", server.get.body
    assert_equal 1, server.log.scan(" info restarting").size
  end

  def test_stop_without_a_delay_gives_waiting_requests_to_the_old_code
    hook = "on_mold_boot { File.write('booting', ''); sleep } if File.exist?('slow')\n"
    server = start(config: "workers 1\n#{hook}")
    server.directory.write("slow", "")
    write(server, 1)
    asked = ask(server, "GET", "/")
    eventually(message: "the boot of the new mold") { File.exist?(path(server, "booting")) }
    server.kill(:TERM)

    assert_equal "0 /", asked.read_response.body
    server.wait
  end

  def test_new_edge_watches_the_files_after_an_upgrade
    server = start(args: ["--reload", *CONTROL_SOCKET])
    2.times do |number|
      assert_equal 0, carat(server, "upgrade").last
      write(server, number + 1)

      assert_equal "#{number + 1} /", server.get.body
    end
  end

  def test_file_that_changes_during_an_upgrade_ends_it
    hook = "on_mold_boot { File.write('booting', ''); sleep 0.01 until File.exist?('go') } if File.exist?('slow')\n"
    server = start(config: "workers 1\n#{hook}", args: ["--reload", *CONTROL_SOCKET])
    server.directory.write("slow", "")
    upgrade = Thread.new { carat(server, "upgrade") }
    eventually(message: "the boot of the new mold") { File.exist?(path(server, "booting")) }
    write(server, 1)
    asked = ask(server, "GET", "/")

    assert_equal ["", "carat: not upgraded: source files have changed\n", 1], upgrade.value
    server.directory.write("go", "")

    assert_equal "1 /", asked.read_response.body
  end

  def test_reload_is_the_default_of_development_alone
    [["development", "1 /"], ["production", "0 /"]].each do |environment, body|
      server = start(args: [], env: { "CARAT_RELOAD" => nil, "RACK_ENV" => environment })
      write(server, 1)

      assert_equal body, server.get.body
    end
  end

  private

  def start(files: {}, **options)
    options = { app: CODE, workers: 1, args: ["--reload"] }.merge(options)
    options.delete(:workers) if options[:config]
    server(files: { "lib/page.rb" => page(0), **files }, **options).start
  end

  def page(version)
    %(module Page\n  def self.text(path) = "#{version} \#{path}"\nend\n)
  end

  def write(server, version)
    server.directory.replace("lib/page.rb", page(version))
  end

  def path(server, name)
    File.join(server.directory.path, name)
  end

  def gets_new_code(server)
    before = server.log.scan(" info restarted").size
    yield

    assert_equal 200, server.get.status
    eventually { server.log.scan(" info restarted").size == before + 1 } # the log may come after the response
  end
end
