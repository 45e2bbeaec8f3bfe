# frozen_string_literal: true

require "test_helper"

# `carat leak` about applications with a known leak, in small rounds; `bench/run leak` has the full table.
class LeakTest < Minitest::Test
  include Support::Eventually
  include Support::PlantedApplication
  include Support::PlantedBytes

  REQUESTS = 211
  ROUNDS = 8
  SMALL = ["--requests", REQUESTS.to_s, "--rounds", ROUNDS.to_s].freeze
  # The rounds, what precedes them, and a few.
  TOTAL = REQUESTS * (ROUNDS + 3)
  TEN_PATHS = (0..9).map { |number| "/#{number}" }.freeze
  # How far the slope may be from what is planted, as a share of it.
  TOLERANCE = 0.15

  def test_application_that_keeps_nothing_has_no_leak
    report = measure(:clean)

    assert_equal "no leak", report.fetch("verdict"), rounds(report)
    assert_empty report.fetch("sites")
    assert_equal 1, report.fetch("runs").size
  end

  def test_object_that_is_kept_is_found_with_its_line
    report = assert_leak(:object, objects: 1)

    assert_equal ["Object"], site(report, :object).fetch("classes").keys
    assert_equal "Array", site(report, :object).fetch("container")
    assert_equal "KEPT", site(report, :object).fetch("path").first
  end

  def test_many_strings_that_grow_by_turns_are_found_with_their_content
    report = measure(:many_strings)

    assert_equal "leak", report.fetch("verdict"), rounds(report)
    assert_in_delta 50, report.fetch("bytes_per_request"), 50 * TOLERANCE, rounds(report)
    found = site(report, :many_strings)
    assert_equal ["String", %w[KEPT Array String]], found.values_at("container", "path")
    assert_in_delta 50, found.fetch("bytes_per_request"), 50 * TOLERANCE
  end

  def test_integer_that_grows_is_a_leak_with_its_slope
    report = measure(:integer)

    assert_equal "leak", report.fetch("verdict"), rounds(report)
    assert_in_delta 80, report.fetch("bytes_per_request"), 80 * TOLERANCE, rounds(report)
  end

  def test_suspended_enumerators_end_no_measurement_at_the_map_limit
    report = leak(:enumerator, "--rounds", ROUNDS.to_s, requests: TOTAL)

    assert_equal "leak", report.fetch("verdict"), rounds(report)
    assert_in_delta 2, report.fetch("mappings_per_request"), 2 * TOLERANCE
  end

  def test_line_whose_memory_another_line_frees_is_innocent
    report = assert_leak(:freed_elsewhere, objects: 0)

    assert_equal [leaking_line(:freed_elsewhere)], report.fetch("sites").map { |each| each.fetch("line") }
    assert_in_delta 64, site(report, :freed_elsewhere).fetch("bytes_per_request"), 4
  end

  INNOCENT.each_key do |name|
    define_method("test_the_leaking_line_comes_before_the_innocent_one_of_#{name}") do
      ENV["DATABASE_URL"] = Support::Postgres.shared.url if name == :postgres
      report = assert_leak(name)
      first, *others = report.fetch("sites")

      assert_equal leaking_line(name), first.fetch("line"), report.fetch("sites").inspect
      others.each { |each| assert_operator each.fetch("bytes_per_request"), :<, 64, each.inspect }
    ensure
      ENV.delete("DATABASE_URL")
    end
  end

  def test_endless_methods_and_threads_have_their_lines_carat_has_none
    report = measure(:three_places)
    sites = report.fetch("sites").sort_by { |each| each["line"].to_i }

    assert_equal [nil, 5, 6, 12], sites.map { |each| each["line"] }, sites.inspect
    sites.first(3).each { |each| assert_in_delta 1, each["objects_per_request"], 0.01, each.inspect }
    assert_equal %w[PATHS Array String], sites.first["path"]
  end

  def test_memory_of_an_extension_is_found_with_the_line_that_calls_it
    site = site(assert_leak(:extension, objects: 0), :extension)

    assert_empty site.fetch("classes")
    assert_match(/leaky\.so\+0x\h+/, site.fetch("stack").first)
    # A Ruby without a library of its own is the program, whose first argument is the title of the worker.
    assert_empty site.fetch("stack").grep(/worker=/)
  end

  def test_memoization_without_a_bound_is_found
    report = assert_leak(:memo)

    assert_equal ["Page @pages", "Hash"], site(report, :memo).fetch("path").first(2)
  end

  def test_leak_of_one_path_in_ten_is_found
    assert_leak(:one_in_ten, paths: TEN_PATHS)
  end

  def test_thread_that_does_not_end_is_found
    report = assert_leak(:thread)

    assert_in_delta 1.0, report.fetch("threads_per_request"), 0.01
  end

  def test_cache_with_a_bound_is_not_a_leak
    report = measure(:cache)

    assert_equal "bounded cache", report.fetch("verdict"), rounds(report)
    assert_includes 0.5..1.0, report.fetch("filled")
    assert_planted(:cache, report)
  end

  def test_pages_that_cannot_be_used_again_are_fragmentation
    report = measure(:fragmentation)

    assert_equal "fragmentation", report.fetch("verdict"), rounds(report)
    assert_planted(:fragmentation, report)
    assert_named(:fragmentation, report)
    refute_empty site(report, :fragmentation).fetch("block_sizes")
  end

  def test_what_the_allocator_does_not_have_is_named_by_its_kind
    mapping, descriptor = %i[mapping descriptor].map { |name| measure(name) }

    assert_equal ["growing mappings", "rss"], mapping.values_at("verdict", "measure"), rounds(mapping)
    assert_in_delta 4096, mapping.fetch("bytes_per_request"), 4096 * TOLERANCE
    assert_match(/ MiB of anonymous memory \(rw-p\) in [+-]\d+ mappings\z/, mapping.fetch("growing").first)
    assert_equal ["growing descriptors", 1.0], descriptor.values_at("verdict", "descriptors_per_request")
    assert_equal ["#{REQUESTS * ROUNDS} of /dev/null"], descriptor.fetch("growing")
  end

  def test_text_names_the_verdict_and_the_line
    plant(:object, requests: TOTAL)
    out, err, status = run_leak(*SMALL)

    assert_predicate status, :success?, err
    assert_match(/\Aleak: \d+\.\d bytes a request \(\d+\.\d to \d+\.\d, 95 %\)/, out)
    assert_match(/config\.ru:#{leaking_line(:object)}$/, out)
  end

  def test_interrupted_measurement_reports_what_is_known
    File.write(File.join(@directory, "config.ru"), "run ->(_env) { File.write(\"reached\", \"\"); [200, {}, []] }\n")
    out = IO.popen([*LEAK, "--json", { chdir: @directory }]) do |command|
      eventually { File.exist?(File.join(@directory, "reached")) }
      Process.kill(:INT, command.pid)
      command.read
    end
    report = JSON.parse(out)

    assert_equal [true, nil, []], report.values_at("interrupted", "verdict", "sites")
  end

  def test_failures_are_one_clear_sentence
    plant(:clean, requests: 1)
    assert_equal "--rounds: \"3\" is not a number from 8 to 1000\n", run_leak("--rounds", "3")[1]
    File.write(File.join(@directory, "config.ru"), "run ->(_env) { [500, {}, []] }\n")
    assert_includes run_leak(*SMALL)[1], "carat: GET / responds with status 500; name a path that works with --path\n"
    File.write(File.join(@directory, "config.ru"), "raise \"no database\"\n")
    assert_match(/no database.*^carat: the application does not boot; the lines above say why$/m, run_leak(*SMALL)[1])
    File.write(File.join(@directory, "config.ru"), "run ->(_env) { [200, {}, []] }\n")
    File.write(File.join(@directory, "carat.rb"), "on_worker_boot { raise \"no cache server\" }\n")
    assert_includes run_leak(*SMALL)[1], "no cache server"
  end

  private

  def measure(name, *flags)
    leak(name, *SMALL, *flags, requests: TOTAL)
  end

  def assert_leak(name, paths: ["/"], objects: nil)
    report = measure(name, *paths.flat_map { |path| ["--path", path] })
    assert_equal "leak", report.fetch("verdict"), rounds(report)
    assert_planted(name, report, paths)
    assert_in_delta objects, report.fetch("objects_per_request"), 0.01 if objects
    assert_named(name, report)
    report
  end

  def assert_named(name, report)
    assert_includes report.fetch("sites").first(3).map { |each| each.fetch("line") }, leaking_line(name),
                    report.fetch("sites").inspect
  end

  def assert_planted(name, report, paths = ["/"])
    planted = planted_bytes(name, paths)
    low, high = report.fetch("interval")
    off = [planted * TOLERANCE, (high - low) / 2].max
    assert_in_delta planted, report.fetch("bytes_per_request"), off, rounds(report)
  end

  def site(report, name)
    report.fetch("sites").find { |each| each.fetch("line") == leaking_line(name) }
  end

  def rounds(report)
    report.fetch("runs").map { |run| run.map(&:inspect).join("\n") }.join("\n\n")
  end
end
