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

    def test_whole_numbers_are_integers_or_digits
      assert_equal([1, 100], ["1", 100].map { |value| integer(1..100).parse(value) })
    end

    def test_whole_numbers_outside_their_range_are_refused
      assert_refused '"many" is not a whole number of 1 or more', integer(1..), "many"
      assert_refused "0 is not a whole number of 1 or more", integer(1..), 0
      assert_refused '"101" is not a whole number from 1 to 100', integer(1..100), "101"
      ["2.5", 2.0, nil, "0x10", "", [3]].each { |value| assert_refuses integer(1..), value }
    end

    def test_timeouts_are_seconds_or_off
      type = Config::Type::Timeout.new

      assert_equal([5.0, 0.5, nil, nil, nil], [5, "500ms", "off", false, nil].map { |value| type.parse(value) })
      assert_equal(["5.0 s", "off"], [5.0, nil].map { |value| type.text(value) })
      assert_refused '"never" is not a time above 0 and up to a year, such as 30, 2.5, "30s", "5m" or "500ms", or ' \
                     '"off"', type, "never"
    end

    def test_optional_paths_are_paths_or_off
      type = Config::Type::OptionalPath.new
      values = ["tmp/restart.txt", Pathname("/srv/x"), "off", false, nil]

      assert_equal(["tmp/restart.txt", "/srv/x", nil, nil, nil], values.map { |value| type.parse(value) })
      assert_equal(%w[x off], ["x", nil].map { |value| type.text(value) })
      assert_refused "5 is not a path", type, 5
      assert_refuses type, "a\0b"
    end

    def test_workers_are_a_number_a_range_or_auto
      type = Config::Type::WorkerCount.new
      values = [2, "2", 1..8, "1..8", "auto", :auto]

      assert_equal([2..2, 2..2, 1..8, 1..8, "auto", "auto"], values.map { |value| type.parse(value) })
      assert_equal(%w[2 1..8 auto], [2..2, 1..8, "auto"].map { |value| type.text(value) })
      [0, "0..2", 3..1, 1...3, (1..), nil, "many", 1.5, 1..10_001, 5_000_000_000].each do |value|
        assert_refuses type, value
      end
    end

    def test_memory_is_a_share_or_bytes
      type = Config::Type.build(:memory, (1024**2)..)
      values = ["80%", "12.5 %", "512MB", 1_048_576]

      assert_equal(["80%", "12.5%", 536_870_912, 1_048_576], values.map { |value| type.parse(value) })
      assert_refused '"101%" is not an amount of memory from 1 MiB to 1024 TiB, such as "80%" or "512MB"', type, "101%"
      ["0%", "%", "some", 0, 512, "80", "99999999999GB", nil].each { |value| assert_refuses type, value }
    end

    def test_refork_rule_is_a_word_or_numbers_of_requests
      type = Config::Type::ReforkRule.new
      values = [:auto, false, "1000,10000", { after: [1000, 10_000] }, { after: 5 }, 5]

      assert_equal(["auto", "off", [1000, 10_000], [1000, 10_000], [5], [5]], values.map { |value| type.parse(value) })
      [true, "never", [], [0], [10**20], { after: [] }, { before: 1 }, nil].each { |value| assert_refuses type, value }
    end

    def test_gc_policy_is_a_word_or_a_hash_of_numbers
      type = Config::Type::GcPolicy.new
      figures = { heap_growth_factor: 1.1, "RUBY_GC_MALLOC_LIMIT" => 1000 }

      assert_equal(%w[frugal ruby], [:frugal, "ruby"].map { |value| type.parse(value) })
      assert_equal({ "RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1", "RUBY_GC_MALLOC_LIMIT" => "1000" }, type.parse(figures))
      [{}, { "a b" => 1 }, "lavish", nil].each { |value| assert_refuses type, value }
    end

    def test_targets_are_paths
      type = Config::Type::TargetList.new

      assert_equal [["/", "/login?next=%2F"], []], [type.parse(["/", "/login?next=%2F"]), type.parse([])]
      ["login", "/a b", ["/", nil], "http://x/"].each { |value| assert_refuses type, value }
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

    def test_bytes_have_units_that_are_powers_of_1024
      sizes = [10, "10", "64KB", "64KiB", "64k", "1.5 MB", "1GB", "1B"].map { |value| bytes.parse(value) }

      assert_equal [10, 10, 65_536, 65_536, 65_536, 1_572_864, 1_073_741_824, 1], sizes
    end

    def test_other_forms_of_bytes_are_rejected
      assert_refused '"big" is not a number of bytes from 1 to 1024 TiB, such as 65536, "64KB" or "1GB"', bytes, "big"
      [0, -1, 1.5, "1XB", "KB", "", "1025TB", nil].each { |value| assert_refuses bytes, value }
      assert_equal 0, Config::Type.build(:bytes, 0..).parse("0")
    end

    def test_seconds_have_units_and_become_floats
      times = [30, 2.5, "30", "30s", "5m", "500ms", "1h", "1d", "0.25"].map { |value| seconds.parse(value) }

      assert_equal [30.0, 2.5, 30.0, 30.0, 300.0, 0.5, 3600.0, 86_400.0, 0.25], times
      assert(times.all?(Float))
    end

    def test_durations_out_of_range_are_rejected
      assert_refused '"soon" is not a time above 0 and up to a year, such as 30, 2.5, "30s", "5m" or "500ms"',
                     seconds, "soon"
      [0, -1, Float::NAN, Float::INFINITY, "366d", "9000h", Complex(1, 1), nil].each do |value|
        assert_refuses seconds, value
      end
    end

    def test_booleans_are_true_false_and_their_synonyms
      values = [true, "TRUE", "1", false, "off"].map { |value| boolean.parse(value) }

      assert_equal [true, true, true, false, false], values
      assert_refused '"maybe" is not true or false', boolean, "maybe"
      assert_refuses boolean, nil
    end

    def test_rejected_choice_lists_the_valid_ones
      choice = Config::Type.build(:choice, %w[text json])

      assert_equal "json", choice.parse(:json)
      assert_refused '"xml" is not one of: text, json', choice, "xml"
    end

    def test_users_and_groups_exist_or_are_numbers
      user, group = %i[user group].map { |type| Config::Type.build(type) }

      assert_equal(%w[root root 4000 4000], ["root", :root, "4000", 4000].map { |value| user.parse(value) })
      assert_equal(%w[root 4000], ["root", 4000].map { |value| group.parse(value) })
      assert_refused 'there is no user "nobdy"', user, "nobdy"
      assert_refused 'there is no group "nogrp"', group, "nogrp"
      ["", nil, 1.5, -1, "9999999999", "a\0b"].each { |value| assert_refuses user, value }
    end

    def test_umasks_are_octal
      umask = Config::Type.build(:umask)

      assert_equal([0o027, 0o077, 0o022, 0], ["027", "0077", 0o022, "0"].map { |value| umask.parse(value) })
      assert_equal "0027", umask.text(0o027)
      assert_refused '"8" is not an octal mask such as 027', umask, "8"
      ["01000", 0o1000, -1, "u=rwx", nil, 1.5].each { |value| assert_refuses umask, value }
    end

    def test_names_are_not_blank
      name = Config::Type.build(:string)

      assert_equal "production", name.parse(:production)
      assert_refused '" " is not a name', name, " "
      assert_refuses name, 3
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

    def test_log_file_may_be_missing_but_not_its_directory
      log = Config::Type.build(:log)

      assert_equal path("carat.log"), log.parse("carat.log")
      assert_refused "there is no directory #{path("log")}", log, "log/carat.log"
      assert_refused "#{@workplace} is a directory", log, "."
    end

    def test_socket_path_is_free_or_a_socket
      socket = Config::Type.build(:socket)
      write("taken", "")

      assert_equal path("carat.sock"), socket.parse("carat.sock")
      assert_refused "#{path("x" * 107)} is longer than 107 bytes", socket, "x" * 107
      assert_refused "#{path("taken")} is a file, not a socket", socket, "taken"
      assert_refused "#{path("run/carat.sock")} is in a directory that does not exist", socket, "run/carat.sock"
    end

    def test_values_are_formatted_for_readers
      assert_equal(["1 GiB", "1000 B", "0 B"], [1024**3, 1000, 0].map { |value| bytes.text(value) })
      assert_equal "60 s", seconds.text(60)
    end

    private

    def integer(range)
      Config::Type.build(:integer, range)
    end

    def bytes
      Config::Type.build(:bytes)
    end

    def static
      Config::Type.build(:static)
    end

    def seconds
      Config::Type.build(:seconds)
    end

    def boolean
      Config::Type.build(:boolean)
    end

    def assert_refused(message, type, value)
      assert_equal message, assert_refuses(type, value).message
    end

    def assert_refuses(type, value)
      assert_raises(Config::InvalidValue, value.inspect) { type.parse(value) }
    end
  end
end
