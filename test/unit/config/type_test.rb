# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "pathname"
require "tmpdir"
require "carat/config/type"
require_relative "../../support/workplace"

module Carat
  class TypeTest < Minitest::Test
    include Support::Workplace

    OFF = [false, nil, "off"].freeze
    SECONDS = 'a time above 0 and up to a year, such as 30, 2.5, "30s", "5m" or "500ms"'
    # What a type makes of values, what it says about a wrong one, which others it refuses, and its words for readers.
    ROWS = {
      whole_numbers_are_integers_or_digits_in_their_range:
        [[:integer, 1..100], { "1" => 1, 100 => 100 }, { "101" => '"101" is not a whole number from 1 to 100' },
         ["2.5", 2.0, nil, "0x10", "", [3]]],
      whole_numbers_may_have_no_end:
        [[:integer, 1..], { 1_000_000 => 1_000_000 },
         { "many" => '"many" is not a whole number of 1 or more', 0 => "0 is not a whole number of 1 or more" }, []],
      timeouts_are_seconds_or_off:
        [[:timeout], { 5 => 5.0, "500ms" => 0.5, **OFF.to_h { |value| [value, nil] } },
         { "never" => "\"never\" is not #{SECONDS}, or \"off\"" }, [], { 5.0 => "5 s", nil => "off" }],
      optional_paths_are_paths_or_off:
        [[:optional_path], { "tmp/restart.txt" => "tmp/restart.txt", Pathname("/srv/x") => "/srv/x",
                             **OFF.to_h { |value| [value, nil] } }, { 5 => "5 is not a path" }, ["a\0b"],
         { "x" => "x", nil => "off" }],
      workers_are_a_number_a_range_or_auto:
        [[:workers], { 2 => 2..2, "2" => 2..2, 1..8 => 1..8, "1..8" => 1..8, "auto" => "auto", auto: "auto" }, {},
         [0, "0..2", 3..1, 1...3, (1..), nil, "many", 1.5, 1..10_001, 5_000_000_000],
         { 2..2 => "2", 1..8 => "1..8", "auto" => "auto" }],
      memory_is_a_share_or_bytes:
        [[:memory, (1024**2)..],
         { "80%" => "80%", "12.5 %" => "12.5%", "512MB" => 536_870_912, 1_048_576 => 1_048_576 },
         { "101%" => '"101%" is not an amount of memory from 1 MiB to 1024 TiB, such as "80%" or "512MB"' },
         ["0%", "%", "some", 0, 512, "80", "99999999999GB", nil]],
      refork_rule_is_a_word_or_numbers_of_requests:
        [[:refork], { auto: "auto", false => "off", "1000,10000" => [1000, 10_000], 5 => [5], { after: 5 } => [5],
                      { after: [1000, 10_000] } => [1000, 10_000] }, {},
         [true, "never", [], [0], [10**20], { after: [] }, { before: 1 }, nil]],
      gc_policy_is_a_word_or_a_hash_of_numbers:
        [[:gc], { frugal: "frugal", "ruby" => "ruby",
                  { heap_growth_factor: 1.1, "RUBY_GC_MALLOC_LIMIT" => 1000 } =>
                    { "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1", "RUBY_GC_MALLOC_LIMIT" => "1000" } }, {},
         [{}, { "a b" => 1 }, "lavish", nil]],
      targets_are_paths:
        [[:targets], { ["/", "/login?next=%2F"] => ["/", "/login?next=%2F"], [] => [] }, {},
         ["login", "/a b", ["/", nil], "http://x/"]],
      bytes_have_units_that_are_powers_of_1024:
        [[:bytes], { 10 => 10, "10" => 10, "64KB" => 65_536, "64KiB" => 65_536, "64k" => 65_536, "1.5 MB" => 1_572_864,
                     "1GB" => 1_073_741_824, "1B" => 1 },
         { "big" => '"big" is not a number of bytes from 1 to 1024 TiB, such as 65536, "64KB" or "1GB"' },
         [0, -1, 1.5, "1XB", "KB", "", "1025TB", nil], { 1024**3 => "1 GiB", 1000 => "1000 B", 0 => "0 B" }],
      bytes_may_be_none: [[:bytes, 0..], { "0" => 0 }, {}, []],
      seconds_have_units_and_become_floats:
        [[:seconds], { 30 => 30.0, 2.5 => 2.5, "30" => 30.0, "30s" => 30.0, "5m" => 300.0, "500ms" => 0.5,
                       "1h" => 3600.0, "1d" => 86_400.0, "0.25" => 0.25 }, { "soon" => "\"soon\" is not #{SECONDS}" },
         [0, -1, Float::NAN, Float::INFINITY, "366d", "9000h", Complex(1, 1), nil], { 60 => "60 s" }],
      booleans_are_true_false_and_their_synonyms:
        [[:boolean], { true => true, "TRUE" => true, "1" => true, false => false, "off" => false },
         { "maybe" => '"maybe" is not true or false' }, [nil]],
      a_choice_lists_the_valid_words:
        [[:choice, %w[text json]], { json: "json" }, { "xml" => '"xml" is not one of: text, json' }, []],
      users_exist_or_are_numbers:
        [[:user], { "root" => "root", root: "root", "4000" => "4000", 4000 => "4000" },
         { "nobdy" => 'there is no user "nobdy"' }, ["", nil, 1.5, -1, "9999999999", "a\0b"]],
      groups_exist_or_are_numbers:
        [[:group], { "root" => "root", 4000 => "4000" }, { "nogrp" => 'there is no group "nogrp"' }, []],
      umasks_are_octal:
        [[:umask], { "027" => 0o027, "0077" => 0o077, 0o022 => 0o022, "0" => 0 },
         { "8" => '"8" is not an octal mask such as 027' }, ["01000", 0o1000, -1, "u=rwx", nil, 1.5],
         { 0o027 => "0027" }],
      names_are_not_blank: [[:string], { production: "production" }, { " " => "is empty" }, [3]]
    }.freeze

    ROWS.each do |name, (type, values, refused, others, texts)|
      define_method("test_#{name}") do
        type = Config::Type.build(*type)
        values.each do |value, parsed|
          found = type.parse(value)
          assert_equal [parsed.class, parsed], [found.class, found], value.inspect
        end
        refused.each { |value, message| assert_refused message, type, value }
        others.each { |value| assert_refuses type, value }
        texts.to_h.each { |value, text| assert_equal text, type.text(value) }
      end
    end

    def test_static_directories_have_a_prefix
      Dir.mktmpdir do |directory|
        FileUtils.mkdir_p("#{directory}/public/assets")
        public, assets = %w[public public/assets].map { |name| "#{directory}/#{name}" }
        root = { prefix: "/", directory: public, cache_control: nil, not_found: nil }
        inner = { prefix: "/assets", directory: assets, cache_control: "no-cache", not_found: "404.html" }
        plain = { cache_control: nil, not_found: nil }

        assert_equal [root], static.parse(public)
        assert_equal [root.merge(prefix: "/a")], static.parse(["/a=#{public}"])
        assert_equal [root.merge(prefix: "/a")], static.parse("/a/" => public)
        assert_equal [root, inner], static.parse([public, { "/assets" => inner.slice(:cache_control, :not_found) }])
        assert_equal [inner.merge(plain)], static.parse("/assets" => { directory: assets })
        assert_equal "/=#{public}, /assets=#{assets}", static.text([root, inner])
        assert_equal ["none", []], [static.text([]), static.parse([])]
      end
    end

    def test_what_is_no_static_directory_is_refused
      Dir.mktmpdir do |directory|
        assert_refused "there is no directory #{directory}/none", static, "#{directory}/none"
        assert_refused '"assets" is not the beginning of a path such as /assets', static, { "assets" => directory }
        assert_refused "/a: name a directory", static, { "/a" => { not_found: "404.html" } }
        assert_refused "/a: :ttl is none of directory, cache_control, not_found", static, { "/a" => { ttl: 1 } }
        ["/..", "/.git", "/a//b", "/a%20b", "/a?b", ""].each { |prefix| assert_refuses static, { prefix => directory } }
        wrong = [{ cache_control: "a\nb" }, { cache_control: 1 }, { not_found: "../404.html" }, { not_found: 404 }]
        wrong.each do |more|
          assert_refuses static, { "/" => { directory:, **more } }
        end
      end
    end

    def test_files_must_exist
      file = Config::Type.build(:file)

      assert_equal path("config.ru"), file.parse("config.ru")
      assert_equal path("config.ru"), file.parse(Pathname("config.ru"))
      assert_refused "there is no file #{path("x.ru")}", file, "x.ru"
      assert_refused "#{@workplace} is a directory", file, "."
      File.mkfifo(path("fifo"))
      assert_refused "#{path("fifo")} is not a regular file", file, "fifo"
      ["", "a\0b", 3, nil].each { |value| assert_refuses file, value }
    end

    def test_home_of_an_unknown_user_is_not_a_path
      assert_refuses Config::Type.build(:file), "~no-such-user/config.ru"
    end

    def test_directories_must_exist
      directory = Config::Type.build(:directory)

      assert_equal @workplace, directory.parse(".")
      assert_refused "there is no directory #{path("spool")}", directory, "spool"
    end

    def test_error_pages_are_in_their_directory
      Dir.mkdir("pages")
      assert_refused "#{path("pages")} has no page such as 503.html", Config::Type.build(:pages), "pages"
      write("pages/404.html", "")

      assert_equal path("pages"), Config::Type.build(:pages).parse("pages")
    end

    def test_a_size_is_not_true
      assert_refused 'true is not a size: write one, such as 65536, "64KB" or "1GB"', Config::Type.build(:bytes), true
    end

    def test_log_file_may_be_missing_but_not_its_directory
      log = Config::Type.build(:log)

      assert_equal path("carat.log"), log.parse("carat.log")
      assert_refused "there is no directory #{path("log")}", log, "log/carat.log"
      assert_refused "#{@workplace} is a directory", log, "."
    end

    def test_names_of_standard_streams_mean_the_stream
      log = Config::Type.build(:log)
      File.symlink("/dev/stdout", path("out.log"))
      File.symlink("out.log", path("linked.log"))

      names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out.log", "linked.log"]
      assert_equal ["/dev/stdout"], names.map { |name| log.parse(name) }.uniq
      assert_equal [nil], %w[/dev/stderr /dev/fd/2 /proc/self/fd/2].map { |name| log.parse(name) }.uniq
      assert_equal "/dev/null", log.parse("/dev/null")
    end

    def test_pid_file_may_be_none_and_replaces_nothing_else
      pidfile = Config::Type.build(:pidfile)
      { "old.pid" => "42\n", "empty.pid" => "", "data" => "12 monkeys" }.each { |name, text| write(name, text) }
      File.symlink("data", path("link.pid"))
      File.mkfifo(path("fifo"))

      assert_nil pidfile.parse("/dev/null")
      %w[new.pid old.pid empty.pid link.pid].each { |name| assert_equal path(name), pidfile.parse(name) }
      assert_refused "#{path("data")} is not a pid file", pidfile, "data"
      assert_refused "#{path("fifo")} is not a regular file", pidfile, "fifo"
      assert_refused "there is no directory #{path("run")}", pidfile, "run/carat.pid"
    end

    def test_socket_path_is_free_or_a_socket
      socket = Config::Type.build(:socket)
      write("taken", "")

      assert_equal path("carat.sock"), socket.parse("carat.sock")
      assert_refused "#{path("x" * 107)} is longer than 107 bytes", socket, "x" * 107
      assert_refused "#{path("taken")} is a file, not a socket", socket, "taken"
      assert_refused "#{path("run/carat.sock")} is in a directory that does not exist", socket, "run/carat.sock"
    end

    private

    def static
      Config::Type.build(:static)
    end

    def assert_refused(message, type, value)
      assert_equal message, assert_refuses(type, value).message
    end

    def assert_refuses(type, value)
      assert_raises(Config::InvalidValue, value.inspect) { type.parse(value) }
    end
  end
end
