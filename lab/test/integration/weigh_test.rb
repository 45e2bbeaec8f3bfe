# frozen_string_literal: true

require "test_helper"

# `carat weigh` about applications of a known weight.
class WeighTest < Minitest::Test
  include Support::Eventually
  include Support::WeighedApplication

  MIB = 1024 * 1024
  # What an empty file weighs: its code and its entry among the loaded features.
  FILE_BYTES = 16 * 1024
  # An Array of 10 elements and a Struct of 6, each with its buffer, where it has one.
  ARRAY_BYTES = RUBY_VERSION < "3.2" ? 40 + 80 : 160
  STRUCT_BYTES = RUBY_VERSION < "3.3" ? 40 + 48 : 80
  # 110 Strings with a buffer in jemalloc's class of 2048 bytes, and their Array.
  TEXTS = "Array.new(110) { \"k\" * 2000 }"
  TEXTS_BYTES = (110 * (40 + 2048)) + 896

  def test_strings_weigh_what_they_hold
    write("text.rb", "TEXTS = Array.new(1000) { \"x\" * 5000 }\n")
    report = weigh("require_relative \"text\"\n")

    # jemalloc rounds 5001 bytes up to 5120, and each String has a slot. A table of Ruby's own may double meanwhile.
    assert_in_delta 1000 * (5120 + 40) + 8192, own(report, "text.rb"), 4 * FILE_BYTES
    assert_in_delta 1000, own(report, "text.rb", "strings"), 20
    assert_in_delta 1001, own(report, "text.rb", "objects"), 60
  end

  def test_objects_weigh_their_slots
    write("objects.rb", "OBJECTS = Array.new(10_000) { Object.new }\n")

    report = weigh("require_relative \"objects\"\n")

    assert_in_delta 10_000 * 40, own(report, "objects.rb", "slots"), FILE_BYTES
  end

  def test_memory_of_c_counts_and_what_is_freed_does_not
    write("native.rb", <<~RUBY)
      require "fiddle"
      KEPT = Fiddle.malloc(3_145_728)
      Fiddle.free(Fiddle.malloc(7_000_000))
    RUBY

    assert_in_delta 3 * MIB, own(weigh("require_relative \"native\"\n"), "native.rb", "malloc"), FILE_BYTES
  end

  def test_garbage_does_not_count_whoever_collects_it
    write("garbage.rb", <<~RUBY)
      200.times { "x" * 100_000 }
      Array.new(200_000) { Object.new }.size
    RUBY
    write("collector.rb", "GC.start\nKEPT = Array.new(1000) { \"y\" * 2000 }\n")
    report = weigh("require_relative \"garbage\"\nrequire_relative \"collector\"\n")

    # What the collector notes of the heap's pages is its own.
    assert_in_delta 0, own(report, "garbage.rb"), FILE_BYTES
    assert_in_delta 1000 * (2048 + 40) + 8192, own(report, "collector.rb"), 4 * FILE_BYTES
  end

  # Ruby 3.1 moves the buffers of Arrays and Structs that it keeps after a collection, amid whatever is loaded then.
  def test_files_after_garbage_weigh_what_they_keep_within_10_percent
    keeps = { "arrays" => ["Array.new(20_000) { |index| [index] * 10 }", (20_000 * ARRAY_BYTES) + 163_840],
              "texts" => [TEXTS, TEXTS_BYTES],
              "structs" => ["(KIND = Struct.new(*%i[a b c d e f])) && Array.new(10_000) { KIND.new(1) }",
                          (10_000 * STRUCT_BYTES) + 81_920],
              "last" => ["GC.start || #{TEXTS}", TEXTS_BYTES] }
    keeps.each { |name, (code, _)| write("#{name}.rb", "KEPT_#{name.upcase} = #{code}\n") }
    write("drop.rb", "Array.new(50_000) { |index| [index] * 10 }.size\nArray.new(50_000) { { a: 1, b: 2 } }.size\n")
    report = weigh(keeps.keys.flat_map { |name| [%(load "./drop.rb"\n), %(require_relative "#{name}"\n)] }.join)

    keeps.each { |name, (_, bytes)| assert_in_delta bytes, own(report, "#{name}.rb"), (bytes / 10) + FILE_BYTES, name }
    nodes(report, "drop.rb").each { |node| assert_in_delta 0, node.dig("own", "bytes"), FILE_BYTES }
  end

  def test_memory_that_nobody_has_touched_is_a_part_of_its_own
    write("reserve.rb", "require \"fiddle\"\nKEPT = Fiddle.malloc(#{20 * MIB})\n")
    report = weigh("require_relative \"reserve\"\n")
    parts = report.fetch("parts")

    assert_in_delta(-20 * MIB, parts.fetch("untouched"), 2 * MIB)
    assert_in_delta report.fetch("growth"), parts.values.sum, MIB, parts.inspect
  end

  def test_file_has_what_the_files_that_it_loads_weigh
    write("outer.rb", "require_relative \"inner\"\nOUTER = \"x\" * 1_000_000\n")
    write("inner.rb", "INNER = \"x\" * 2_000_000\n")
    outer = node(weigh("require_relative \"outer\"\n"), "outer.rb")

    assert_equal ["inner.rb"], outer.fetch("children").map { |child| File.basename(child.fetch("file")) }
    assert_in_delta 1_000_000, outer.dig("own", "bytes"), 100_000
    assert_in_delta 3_000_000, outer.dig("inclusive", "bytes"), 400_000
  end

  def test_missing_file_is_no_branch_and_one_that_raises_is_marked
    write("careful.rb", <<~RUBY)
      begin
        require "a_file_that_nobody_has"
      rescue LoadError
        require_relative "broken" rescue MESSAGE = $!.message
      end
    RUBY
    write("broken.rb", "require_relative \"part\"\nraise \"half way\"\n")
    write("part.rb", "PART = \"x\" * 700_000\n")
    report = weigh("require_relative \"careful\"\n")

    assert_empty nodes(report, "a_file_that_nobody_has")
    assert_equal [true], nodes(report, "broken").map { |node| node.fetch("failed") }
    assert_in_delta 700_000, own(report, "part.rb"), 200_000
  end

  def test_autoload_counts_where_the_constant_is_named
    write("lazy.rb", "autoload :Late, #{path("late.rb").inspect}\n")
    write("user.rb", "Late\n")
    write("late.rb", "Late = \"x\" * 600_000\n")
    user = node(weigh("require_relative \"lazy\"\nrequire_relative \"user\"\n"), "user.rb")

    assert_equal [path("late.rb")], user.fetch("children").map { |child| child.fetch("file") }
  end

  def test_library_of_a_file_that_asks_who_requires_it_finds_that_file
    write("asker.rb", "CALLERS = caller.reject { |line| line.match?(/<internal:|kernel_require/) }\n")
    write("asking.rb", <<~RUBY)
      require_relative "asker"
      abort CALLERS.first unless CALLERS.first.include?("asking.rb:1")
    RUBY

    weigh("require_relative \"asking\"\n")
  end

  def test_require_relative_calls_no_require_that_a_library_has_replaced
    write("replacing.rb", <<~RUBY)
      module Kernel
        alias replaced_require require
        def require(path) = path.end_with?("/asked") ? abort("require \#{path}") : replaced_require(path)
      end
    RUBY
    write("asked.rb", "ASKED = \"x\" * 500_000\n")
    report = weigh("require_relative \"replacing\"\nrequire_relative \"asked\"\n")

    assert_in_delta 500_000, own(report, "asked.rb"), 100_000
  end

  def test_parts_add_up_to_the_growth_of_the_process_within_10_percent
    write("heavy.rb", <<~RUBY)
      require "openssl"
      STRINGS = Array.new(20_000) { |index| index.to_s * 100 }
      OBJECTS = Array.new(200_000) { Object.new }
      ARRAYS = Array.new(50_000) { |index| [index] * 10 }
    RUBY
    report = weigh("require_relative \"heavy\"\n")
    sum = report.fetch("parts").values.sum

    assert_operator report.fetch("growth"), :>, 15 * MIB
    assert_in_delta 1.0, sum / report.fetch("growth").to_f, 0.1, report.fetch("parts").inspect
    assert_equal report.dig("tree", "inclusive", "bytes"), report.fetch("gems").sum { |gem| gem.fetch("bytes") }
    assert_equal report.fetch("parts").values_at("files_malloc", "files_slots").sum,
                 report.dig("tree", "inclusive", "bytes")
  end

  def test_text_leaves_out_light_files_below_the_cut
    write("big.rb", "BIG = \"x\" * 2_000_000\n")
    write("small.rb", "SMALL = 1\n")
    write("config.ru", "require_relative \"big\"\nrequire_relative \"small\"\n#{Support::WeighedApplication::RUN}")
    text = run_weigh.first
    everything = run_weigh("--cut", "0").first

    assert_includes text, "big.rb"
    refute_includes text, "small.rb"
    assert_includes everything, "small.rb"
    assert_match(/^growth of the process \(PSS\) +\d+\.\d\d$/, text)
  end

  def test_gemfile_is_weighed_without_an_application
    write("Gemfile", "gem \"rack\"\n")
    out, err, status = run_weigh("--json", "Gemfile")

    assert_predicate status, :success?, err
    assert_operator JSON.parse(out).fetch("gems").find { |gem| gem["gem"] == "rack" }.fetch("bytes"), :>, 0
  end

  def test_bundler_does_not_end_the_trace
    write("Gemfile", "gem \"rack\"\n")
    write("later.rb", "LATER = \"x\" * 900_000\n")

    report = weigh("require \"bundler/setup\"\nrequire_relative \"later\"\n")

    assert_in_delta 900_000, own(report, "later.rb"), 200_000
  end

  def test_interrupted_boot_is_reported_as_far_as_it_went
    write("big.rb", "BIG = \"x\" * 2_000_000\n")
    write("config.ru", "require_relative \"big\"\nFile.write(\"loaded\", \"\")\nsleep\n")
    report = JSON.parse(interrupted("--json"))

    assert_equal true, report.fetch("interrupted")
    assert_in_delta 2_000_000, own(report, "big.rb"), 200_000
  end

  def test_failures_are_one_clear_sentence
    write("config.ru", "raise \"no database\"\n")
    assert_equal ["", "config.ru:1: no database (RuntimeError)\n", 1], outcome
    assert_equal ["", "--cut: \"x\" is not a number of 0 or more\n", 78], outcome("--cut", "x")
    assert_match(/\Acarat: only Carat's allocator counts each byte: .*\n\z/, outcome("--allocator", "system")[1])
    write("config.ru", "exit!(3)\n")
    assert_match(/\Acarat: the application ended the process while it booted .*exit 3.*\n\z/, outcome[1])
  end

  private

  # Standard output of a command that is interrupted once the application has made a file.
  def interrupted(*words)
    IO.popen([*COMMAND, "weigh", *words, { chdir: @directory }]) do |out|
      eventually { File.exist?(path("loaded")) }
      Process.kill(:INT, out.pid)
      out.read
    end
  end

  def outcome(*words)
    out, err, status = run_weigh(*words)
    [out, err, status.exitstatus]
  end
end
