# frozen_string_literal: true

require "test_helper"

# `carat allocations` about applications that allocate a known number of objects.
class AllocationsTest < Minitest::Test
  include Support::Eventually
  include Support::InProcessApplication

  KNOWN = <<~RUBY
    class Item; end
    X = "x"
    RESPONSE = [200, {}.freeze, [].freeze].freeze
    run(lambda do |_env|
      7.times { Item.new } # items
      X * 5000 # text
      RESPONSE
    end)
  RUBY

  def test_objects_are_counted_by_line_and_class
    write("config.ru", KNOWN)
    report = report("allocations", "--requests", "20")

    assert_equal [1, false, ["/"], 20, true],
                 report.values_at("schema", "interrupted", "paths", "requests", "malloc_counted")
    assert_equal [7.0, { "Item" => 7.0 }], site(report, "items").values_at("objects_per_request", "classes")
    assert_equal [1.0, { "String" => 1.0 }], site(report, "text").values_at("objects_per_request", "classes")
    assert_equal 8.0, report.fetch("objects_per_request"), report.fetch("sites")
  end

  def test_rackup_file_that_is_named_is_the_one_that_counts
    write("config.ru", "raise \"not this one\"\n")
    write("other.ru", KNOWN)

    assert_equal 8.0, report("allocations", "other.ru", "--requests", "20").fetch("objects_per_request")
    iterations = report("ips", "other.ru", "--seconds", "1").fetch("paths").first
    assert_operator iterations.fetch("objects_per_iteration"), :>=, 8
  end

  def test_report_is_apart_from_what_the_application_prints_and_its_files_go_with_it
    write("config.ru", <<~RUBY)
      require "tempfile"
      FILE = Tempfile.new("carat", #{@directory.inspect})
      puts "application"
      run ->(_env) { puts("request"); [200, {}, []] }
    RUBY

    %w[allocations weigh].each do |command|
      assert_kind_of Hash, report(command) # JSON, and nothing else
      assert_empty Dir.glob(File.join(@directory, "carat*")), command
    end
  end

  def test_jit_compiler_is_that_of_a_worker_and_the_report_names_it
    write("config.ru", KNOWN)
    expected = defined?(RubyVM::YJIT.enable) ? "YJIT" : nil

    reports = [%w[allocations], %w[ips --seconds 1]].map { |words| report(*words, "-e", "production") }

    assert_equal [expected] * 2, reports.map { |report| report.fetch("jit") }
    assert_match(/^JIT compiler: (none|YJIT)$/, run_carat("allocations").first)
    assert_match(/\AJIT compiler: (none|YJIT)$/, run_carat("weigh").first)
  end

  def test_bytes_of_malloc_count_at_the_line
    write("config.ru", KNOWN)
    text = site(report("allocations", "--requests", "200"), "text")

    # jemalloc rounds 5001 bytes up to 5120. A page of Ruby's heap may be noted in between.
    assert_includes 5120.0..5180.0, text.fetch("malloc_bytes_per_request")
    assert_operator text.fetch("bytes_per_request"), :>=, 5160.0
  end

  def test_memory_that_is_freed_within_the_request_counts
    write("config.ru", <<~RUBY)
      require "fiddle"
      run ->(_env) { Fiddle.free(Fiddle.malloc(7000)); [200, {}, []] }
    RUBY
    report = report("allocations", "--requests", "20")

    assert_operator report.fetch("malloc_bytes_per_request"), :>=, 7168.0 # the class of jemalloc
  end

  def test_sums_agree_with_the_counter_of_ruby
    write("config.ru", <<~RUBY)
      BEFORE = []
      run(lambda do |env|
        BEFORE << GC.stat(:total_allocated_objects)
        text = env["PATH_INFO"].split("/").map(&:to_sym).inspect
        100.times { |number| text = [number, text.to_s].join("-")[0, 10] }
        File.write("counted", GC.stat(:total_allocated_objects) - BEFORE.last)
        [200, {}, [text]]
      end)
    RUBY
    report = report("allocations", "--path", "/one/two", "--requests", "11")
    counted = report.fetch("sites").select { |site| (4..5).cover?(site.fetch("line")) }
    objects = counted.sum { |site| site.fetch("objects_per_request") }

    assert_in_delta Integer(File.read(path("counted"))), objects, 8
    assert_operator objects, :>, 300
  end

  def test_paths_take_turns
    write("config.ru", <<~RUBY)
      class Even; end
      run ->(env) { Even.new if env["PATH_INFO"] == "/even"; [200, {}, []] }
    RUBY
    report = report("allocations", "--path", "/even", "--path", "/odd", "--requests", "10")

    assert_equal 0.5, report.fetch("sites").sum { |site| site.fetch("classes").fetch("Even", 0) }
  end

  def test_gems_have_the_sums_of_their_lines
    FileUtils.mkdir_p(path("gems/heavy-1.2.0/lib"))
    write("gems/heavy-1.2.0/lib/heavy.rb", "module Heavy\n  def self.work = Array.new(9) { Object.new }\nend\n")
    write("config.ru", <<~RUBY)
      $LOAD_PATH << #{path("gems/heavy-1.2.0/lib").inspect}
      require "heavy"
      run ->(_env) { Heavy.work; [200, {}, []] }
    RUBY
    gems = report("allocations", "--requests", "10").fetch("gems").to_h { |gem| [gem.fetch("gem"), gem] }

    assert_equal 10.0, gems.fetch("heavy").fetch("objects_per_request")
    assert_operator gems.fetch("(application)").fetch("objects_per_request"), :>, 0
  end

  def test_rails_application_is_counted_as_production_boots_it
    Support::RailsApp::FILES.each do |name, text|
      FileUtils.mkdir_p(File.dirname(path(name)))
      write(name, text)
    end
    report = report("allocations", "-e", "production", "--path", "/items/1", "--requests", "10")
    controller = report.fetch("sites").select { |site| site["file"] == path("app/controllers/items_controller.rb") }

    assert_equal ["(application)"], controller.map { |site| site.fetch("gem") }.uniq
    assert_operator controller.sum { |site| site.fetch("classes").fetch("String", 0) }, :>=, 1.0
    assert_operator report.fetch("gems").find { |gem| gem["gem"].match?(/action/) }["objects_per_request"], :>, 50
  end

  def test_objects_of_other_threads_are_told_apart
    write("config.ru", <<~RUBY)
      run ->(_env) { Thread.new { 50.times { Object.new } }.join; [200, {}, []] }
    RUBY
    report = report("allocations", "--requests", "10")

    assert_operator report.fetch("objects_of_other_threads_per_request"), :>=, 50
    assert_operator report.fetch("objects_per_request"), :<, 40
  end

  def test_text_names_the_gem_the_line_and_the_class
    write("config.ru", KNOWN)
    out, err, status = run_carat("allocations")

    assert_predicate status, :success?, err
    assert_match(/\A8\.0 objects and \d+ bytes a request, of which malloc \d+ \(101 requests\)$/, out)
    assert_match(/^ +8\.0 +\d+ +\d+  \(application\)$/, out)
    assert_match(/^ +7\.0 +\d+ +\d+  config\.ru:5 \[\(application\)\]\n +Item 7\.0$/, out)
    assert_empty err
  end

  def test_interrupted_count_reports_what_is_known
    write("config.ru", "run ->(_env) { File.write(\"reached\", \"\"); [200, {}, []] }\n")
    report = JSON.parse(interrupted("allocations", "--json", "--requests", "1000000"))

    assert_equal true, report.fetch("interrupted")
  end

  def test_failures_are_one_clear_sentence
    write("config.ru", "run ->(_env) { [500, {}, []] }\n")
    assert_equal ["", "carat: GET / responds with status 500; name a path that works with --path\n", 1], outcome
    write("config.ru", "run ->(_env) { raise \"no luck\" }\n")
    assert_equal "carat: GET / raises config.ru:1: no luck (RuntimeError); name a path that works with --path\n",
                 outcome[1]
    write("config.ru", "raise \"no database\"\n")
    assert_equal ["", "config.ru:1: no database (RuntimeError)\n", 1], outcome
    assert_equal "--requests: \"0\" is not a number from 1 to 1000000\n", outcome("--requests", "0")[1]
    assert_match(/\A--path: "x" is not a path/, outcome("--path", "x")[1])
  end

  private

  def outcome(*words)
    out, err, status = run_carat("allocations", *words)
    [out, err, status.exitstatus]
  end

  # The site of the line with this comment.
  def site(report, comment)
    line = KNOWN.lines.index { |text| text.include?("# #{comment}") } + 1
    report.fetch("sites").find { |site| site.values_at("file", "line") == [path("config.ru"), line] } ||
      flunk(report.fetch("sites").inspect)
  end
end
