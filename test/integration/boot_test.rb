# frozen_string_literal: true

require "test_helper"

class BootTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'

  def test_application_that_raises_is_told_in_one_line_with_its_place
    assert_boot_fails 1, "carat: config.ru:2: no database (RuntimeError)\n", app: "x = 1\nraise \"no database\"\n"
  end

  def test_file_of_the_application_that_raises_is_told_with_the_way_to_it
    server = server(app: "require_relative \"app\"", files: { "app.rb" => "\nmodule App\n  fail \"no key\"\nend" })

    assert_equal 1, server.run.exitstatus
    first, *from = server.log.lines(chomp: true)
    assert_equal "carat: app.rb:3: no key (RuntimeError)", first
    assert from.all? { |line| line.match?(/\A    from (app\.rb|config\.ru):\d+:in /) }, server.log
  end

  ELSEWHERE = ["sh", "-c", "cd b\u00fcro && exec \"$@\"", "sh", *Support::ServerOptions::COMMAND].freeze
  NO_LOCALE = { "LANG" => nil, "LC_ALL" => nil, "LC_CTYPE" => nil }.freeze
  UMLAUTS = {
    "b\u00fcro/config.ru" => "require \"\#{__dir__}/f\u00fcr\"\nrun GREETING",
    "b\u00fcro/f\u00fcr.rb" => "GREETING = ->(_env) { [200, {}, [Dir.pwd, File.read(__FILE__).encoding.name]] }",
    "b\u00fcro/carat.rb" => "workers 1\nreload true\npidfile \"\u00fc.pid\"",
    "b\u00fcro/b\u00f6se.ru" => "raise \"b\u00f6se\".encode(\"ISO-8859-1\")"
  }.freeze

  def test_names_beyond_ascii_need_no_locale
    [NO_LOCALE, { "LC_ALL" => "C" }].each do |locale|
      env = { **locale, "BUNDLE_GEMFILE" => nil, "CARAT_RELOAD" => nil }
      server = serve(nil, command: ELSEWHERE, files: UMLAUTS, env:)

      assert_equal "#{server.directory.path}/b\u00fcroUTF-8".b, server.get.body.b
      server.stop
    end
  end

  def test_error_in_a_file_beyond_ascii_is_one_line_without_a_locale
    assert_boot_fails 1, "carat: b\u00f6se.ru:1: b\u00f6se (RuntimeError)\n",
                      command: ELSEWHERE, files: UMLAUTS, env: NO_LOCALE, args: ["b\u00f6se.ru"]
    assert_boot_fails 78, "b\u00f6se.ru:1: RuntimeError: b\u00f6se\n",
                      command: ELSEWHERE, files: UMLAUTS, env: NO_LOCALE, args: %W[-C b\u00f6se.ru]
  end

  def test_application_that_ends_the_process
    assert_boot_fails 1, "carat: the mold ended (exit status 3)\n", app: "exit!(3)"
    assert_boot_fails 1, "carat: the mold ended (signal 9)\n", app: "Process.kill(:KILL, Process.pid)"
  end

  def test_sizes_and_port_from_the_environment
    server = serve(HELLO, binds: [], env: { "PORT" => "0", "WEB_CONCURRENCY" => "2", "RAILS_MAX_THREADS" => "4" })
    await_workers(server, 2)

    assert_match %r{\Ahttp://(?:0\.0\.0\.0|\[::\]):\d+\z}, server.urls.first
    assert_equal "hello", server.get.body
    lanes = server.workers.transform_values { |pid| Support::ProcessTree.sockets(pid).size - 1 }
    assert_equal({ 1 => 4, 2 => 4 }, lanes)
  end

  def test_environment_reaches_the_application
    app = 'name = ENV["RACK_ENV"]; run ->(_env) { [200, {}, [name]] }'

    assert_equal "development", serve(app).get.body
    assert_equal "production", serve(app, args: %w[-e production]).get.body
    assert_equal "staging", serve(app, env: { "RACK_ENV" => "staging" }).get.body
  end

  def test_a_configuration_of_puma_that_is_not_read_is_named
    warning = "carat: config/puma.rb is not read, and there is no carat.rb: carat import > carat.rb\n"
    server = serve(HELLO, files: { "config/puma.rb" => "workers 2" })
    assert server.log.start_with?(warning), server.log
    server = serve(HELLO, files: { "config/puma.rb" => "workers 2", "carat.rb" => "" })

    refute_includes server.log, "puma"
  end

  def test_requests_that_come_while_the_application_loads_wait_for_it
    server = server(app: "sleep 0.005 until File.exist?(\"gate\")\n#{HELLO}", binds: ["unix://carat.sock"])
    server.launch.close
    client = eventually { connect_if_there(server) }
    client.request("GET", "/")
    server.gate.open

    assert_equal "hello", client.read_response.body
  end

  def test_output_of_the_application_is_not_held_back
    server = serve("puts \"loaded\"\n#{HELLO}", config: 'on_worker_boot { print "booted" }')

    await_log(server, /^loaded\n(.*\n)*.*booted/)
  end

  private

  def assert_boot_fails(status, log, **options)
    server = server(**options)

    assert_equal [status, log], [server.run.exitstatus, server.log]
    await_emptiness(server)
  end

  def connect_if_there(server)
    server.connect("unix://#{File.join(server.directory.path, "carat.sock")}")
  rescue Errno::ENOENT, Errno::ECONNREFUSED
    nil
  end
end
