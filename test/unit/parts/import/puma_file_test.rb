# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/import/import"

module Carat
  class PumaFileTest < Minitest::Test
    # What `rails new` writes, with the lines that teams add.
    RAILS = <<~'RUBY'
      # Comments stay. é
      max_threads_count = ENV.fetch("RAILS_MAX_THREADS") { 5 }
      threads max_threads_count, max_threads_count
      worker_timeout 3600 if ENV.fetch("RAILS_ENV", "development") == "development"
      port ENV.fetch("PORT", 3000) # é too
      if ENV["RAILS_ENV"] == "production"
        workers ENV.fetch("WEB_CONCURRENCY") { 2 }
        preload_app!
      end
      before_fork do
        ActiveRecord::Base.connection_pool.disconnect!
      end
      on_worker_boot { |index| puts "worker #{index}" }
      plugin :solid_queue if ENV["SOLID_QUEUE_IN_PUMA"]
    RUBY
    CARAT = <<~'RUBY'
      # Comments stay. é
      max_threads_count = ENV.fetch("RAILS_MAX_THREADS") { 5 }
      threads max_threads_count
      # The edge sees at once when a worker dies; request_timeout ends requests that hang:
      # worker_timeout 3600 if ENV.fetch("RAILS_ENV", "development") == "development"
      bind "tcp://*:#{ENV.fetch("PORT", 3000)}" # é too
      if ENV["RAILS_ENV"] == "production"
        workers [(ENV.fetch("WEB_CONCURRENCY") { 2 }).to_i, 1].max
        # Carat always does:
        # preload_app!
      end
      # Once, in the mold, after it has loaded the application.
      on_mold_boot do
        ActiveRecord::Base.connection_pool.disconnect!
      end
      # Carat numbers workers from 1, Puma from 0.
      on_worker_boot { |index| puts "worker #{index}" }
      # The mold forks it; docs/processes.md.
      process("jobs", overlap: true, stop_timeout: "30s") { SolidQueue::Supervisor.start } if ENV["SOLID_QUEUE_IN_PUMA"]
    RUBY
    LINES = {
      "threads 1, 5" => "# Carat has no minimum of threads.\nthreads 5",
      "threads(5)" => "threads 5",
      "threads(*sizes)" => "# Translate it by hand:\n# threads(*sizes)",
      "plugin :tmp_restart" => "restart_file \"tmp/restart.txt\"",
      "plugin :tailwindcss if x" =>
        "# Write process \"css\", command: \"bin/rails tailwindcss:watch\", only: :development:\n" \
        "# plugin :tailwindcss if x",
      "solid_queue_mode :async" =>
        "# For :async, write SolidQueue::Supervisor.start(mode: :async):\n# solid_queue_mode :async",
      "workers 0" => "# Puma's single mode is one worker.\nworkers 1",
      "workers 4" => "workers 4",
      "workers :auto" => "# As many as processors, while the load needs them.\nworkers \"auto\"",
      "port 80, \"127.0.0.1\"" => "bind \"tcp://127.0.0.1:80\"",
      "bind \"tcp://127.0.0.1:80\"" => "bind \"tcp://127.0.0.1:80\"",
      "bind \"unix:///run/a.sock?umask=0117\"" => "bind \"unix:///run/a.sock?mode=0660\"",
      "bind \"unix:///a.sock?backlog=5\"" => "# Without backlog=5; see the option backlog.\nbind \"unix:///a.sock\"",
      "bind address" => "# Check the address: carat check.\nbind address",
      "persistent_timeout 20" => "idle_timeout 20",
      "first_data_timeout 30" => "header_timeout 30",
      "worker_boot_timeout(60)" => "boot_timeout 60",
      "force_shutdown_after 30" => "shutdown_timeout 30",
      "fork_worker" => "refork after: [1000]",
      "fork_worker 500" => "refork after: [500]",
      "log_requests" => "access_log true",
      "quiet" => "access_log false",
      "stdout_redirect \"out\", \"err\"" => "# Carat's own lines; redirect the application's where you start carat.\n" \
                                            "log \"err\"",
      "on_worker_fork { |i| note(i) }" => "# Carat numbers workers from 1, Puma from 0.\nbefore_fork { |i| note(i) }",
      "before_worker_boot(:key) { nil }" => "# Carat passes no second argument.\non_worker_boot { nil }",
      "out_of_band { GC.start }" => "# From Ruby 3.4 on, before a full collection, which needs no GC.start.\n" \
                                    "on_quiet_worker { GC.start }",
      "on_worker_boot(&block)" => "# Translate it by hand:\n# on_worker_boot(&block)",
      "cluster do\n  worker_boot_timeout 3\nend" => "tap do\n  boot_timeout 3\nend",
      "single { debug }" => "# Carat always has workers:\n# single { debug }",
      "before_fork { Puma.stats }" => "# Once, in the mold, after it has loaded the application.\n" \
                                      "# Puma is not loaded here.\non_mold_boot { Puma.stats }",
      "a ? quiet : debug" => "# debug: Carat needs no such setting; delete the line.\na ? access_log(false) : nil",
      "tag 1 unless plain" => "# Processes are named by worker and generation:\n# tag 1 unless plain",
      "port 80, \"::\"" => "bind \"tcp://[::]:80\"",
      "rackup DefaultRackup if defined?(DefaultRackup)" =>
        "# Carat finds config.ru by itself; for another file, carat FILE:\n" \
        "# rackup DefaultRackup if defined?(DefaultRackup)",
      "self.workers 2" => "workers 2",
      "prometheus_exporter_url \"x\"" =>
        "# No method of Puma's own; if a plugin adds it, run what the plugin does beside Carat:\n" \
        "# prometheus_exporter_url \"x\"",
      "exporter = @config.options[:exporter]" =>
        "# Carat has no @config:\n# exporter = @config.options[:exporter]",
      "state_path <<A\nx\nA\nquiet" => "# `carat status` and `carat memory` ask the control socket, which is always " \
                                       "there:\n# state_path <<A\n# x\n# A\naccess_log false",
      "worker_shutdown_timeout 0" => "# Carat's times are above 0.\nshutdown_timeout 1",
      "before_fork { PumaWorkerKiller.start }" =>
        "# In place of PumaWorkerKiller: worker_memory \"300MB\" replaces a worker that exceeds it:\n" \
        "# before_fork { PumaWorkerKiller.start }",
      "Puma.cli_config.x = 1" => "# Puma is not loaded here:\n# Puma.cli_config.x = 1",
      "port 80\nset_remote_address proxy_protocol: :v1 if ENV[\"P\"] == \"1\"" =>
        "bind \"tcp://*:80\#{\"?proxy_protocol=true\" if ENV[\"P\"] == \"1\"}\"\n" \
        "# The addresses end with ?proxy_protocol=true:\n" \
        "# set_remote_address proxy_protocol: :v1 if ENV[\"P\"] == \"1\"",
      "set_remote_address(proxy_protocol: :v1)\nbind \"unix:///a?umask=0117\"" =>
        "# The addresses end with ?proxy_protocol=true:\n# set_remote_address(proxy_protocol: :v1)\n" \
        "bind \"unix:///a?mode=0660&proxy_protocol=true\"",
      "x = 1; y = @config.options" => "# y = @config.options: Carat has no @config.\nx = 1; nil",
      "if ENV[\"A\"]\n  x = 1; exporter 5\nend" =>
        "if ENV[\"A\"]\n  # exporter 5: no method of Puma's own; if a plugin adds it, run what the plugin does " \
        "beside Carat.\n  x = 1; nil\nend",
      "if x then tag 1 end" => "# tag 1: processes are named by worker and generation.\nif x then nil end",
      "srand; tag \"shop\"" => "# tag \"shop\": processes are named by worker and generation.\nsrand; nil"
    }.freeze

    WANTING = '# Carat needs a certificate and its key: bind "tls://HOST:PORT?cert=FILE&key=FILE"; ' \
              "`carat dev-cert` makes both for development:\n# "
    BY_HAND = "# Write bind \"tls://HOST:PORT?cert=FILE&key=FILE\":\n# "
    TLS = {
      'bind "ssl://0.0.0.0:443?key=a.key&cert=a.crt"' => 'bind "tls://0.0.0.0:443?cert=a.crt&key=a.key"',
      "bind 'ssl://[::]:443?cert=a&key=b&verify_mode=none'" => 'bind "tls://[::]:443?cert=a&key=b"',
      'bind "ssl://a:1?cert=a&key=b&ca=c&verify_mode=peer"' => 'bind "tls://a:1?cert=a&key=b&ca=c&verify=optional"',
      'bind "ssl://a:1?cert=a&key=b&ca=c&verify_mode=force_peer&no_tlsv1=true"' =>
        'bind "tls://a:1?cert=a&key=b&ca=c&verify=required"',
      'bind "ssl://#{host}:1?cert=#{ENV["CERT"]}&key=k#{i}"' => 'bind "tls://#{host}:1?cert=#{ENV["CERT"]}&key=k#{i}"',
      'bind "ssl://a:1?cert=my%20a&key=b&backlog=5&odd=1"' =>
        "# Without backlog (see the option backlog), odd.\nbind \"tls://a:1?cert=my a&key=b\"",
      'bind "ssl://a:1?cert=a&key=b&ssl_cipher_filter=!aNULL"' =>
        "# Without ssl_cipher_filter (Carat has modern ciphers only).\nbind \"tls://a:1?cert=a&key=b\"",
      'bind "ssl://localhost:9292"' => "#{WANTING}bind \"ssl://localhost:9292\"",
      'bind "ssl://a:1?cert=#{{a: 1}[:a]}&key=b"' => "#{BY_HAND}bind \"ssl://a:1?cert=\#{{a: 1}[:a]}&key=b\"",
      'ssl_bind "0.0.0.0", "443", cert: "a", key: path' => 'bind "tls://0.0.0.0:443?cert=a&key=#{path}"',
      'ssl_bind host, 443, { :cert => "a", "key" => "b", verify_mode: "force_peer", ca: "c" }' =>
        'bind "tls://#{host}:443?cert=a&key=b&ca=c&verify=required"',
      'ssl_bind "::", 443, cert: "a", key: "b"' => 'bind "tls://[::]:443?cert=a&key=b"',
      'ssl_bind("a", 1, cert_pem: x, key_pem: y)' => "#{WANTING}ssl_bind(\"a\", 1, cert_pem: x, key_pem: y)",
      'ssl_bind "a", 1, options' => "#{BY_HAND}ssl_bind \"a\", 1, options",
      'ssl_bind "a", 1, cert: "c", **options' => "#{BY_HAND}ssl_bind \"a\", 1, cert: \"c\", **options"
    }.freeze

    def test_tls_is_translated
      TLS.each { |puma, carat| assert_equal "#{carat}\n", body("#{puma}\n").delete_suffix(threads), puma }
    end

    def test_what_rails_writes
      assert_equal CARAT, body(RAILS)
    end

    def test_each_line
      LINES.each { |puma, carat| assert_equal "#{carat}\n", body("#{puma}\n").delete_suffix(threads), puma }
    end

    def test_every_line_is_ruby
      [*LINES.keys, *TLS.keys].each { |puma| RubyVM::InstructionSequence.compile(text(puma)) }
    end

    def test_every_method_becomes_ruby
      CLI::Import::PumaDSL::NAMES.each do |name|
        [name.to_s, "#{name} 1", "#{name}(:a) { |x| x }", "x = #{name} if y"].each do |line|
          RubyVM::InstructionSequence.compile(text("#{line}\n"))
        end
      end
    end

    def test_without_threads_the_default_of_puma_is_written
      assert_includes text("workers 2\n"), "\n# Puma's default.\nthreads Integer(ENV.fetch(\"PUMA_MAX_THREADS\") {"
      refute_includes text("threads 2\n"), "Puma's default"
    end

    def test_a_file_that_is_not_ruby_is_told_with_its_place
      error = assert_raises(Config::ConfigError) { text("workers 2\nthreads (\n") }

      assert_match(/\Aconfig\/puma\.rb:[23]: /, error.message)
    end

    private

    def text(puma)
      CLI::Import::PumaFile.new("config/puma.rb", puma).to_carat
    end

    # The text without the lines before and after the file's own.
    def body(puma)
      text(puma).sub(/\A# From config\/puma\.rb, by `carat import`.*\n\n/, "").sub(/\n# Puma waits for .*\z/m, "")
    end

    def threads
      "\n# Puma's default.\n#{CLI::Import::PumaFile.const_get(:DEFAULT_THREADS)}\n"
    end
  end
end
