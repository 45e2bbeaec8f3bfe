# frozen_string_literal: true

require "test_helper"
require "support/rails_app"

# `carat ips` about applications of a known cost.
class IpsTest < Minitest::Test
  include Support::Eventually
  include Support::InProcessApplication

  def test_each_path_has_its_rate_interval_and_allocations
    write("config.ru", <<~RUBY)
      RESPONSE = [200, {}.freeze, [].freeze].freeze
      run(lambda do |env|
        1000.times { Object.new } if env["PATH_INFO"] == "/objects"
        RESPONSE
      end)
    RUBY
    report = report("ips", "--path", "/", "--path", "/objects", "--seconds", "1")
    plain, objects = report.fetch("paths")

    assert_equal [1, false, true], report.values_at("schema", "interrupted", "malloc_counted")
    assert_equal %w[/ /objects], [plain, objects].map { |path| path.fetch("path") }
    assert_rate(plain)
    assert_rate(objects)
    assert_in_delta 1000, objects.fetch("objects_per_iteration") - plain.fetch("objects_per_iteration"), 2
    assert_operator objects.fetch("gc_share"), :>, 0
  end

  def test_memory_of_malloc_is_counted
    write("config.ru", <<~RUBY)
      X = "x"
      run ->(env) { X * 100_000 if env["PATH_INFO"] == "/text"; [200, {}, []] }
    RUBY
    paths = report("ips", "--path", "/", "--path", "/text", "--seconds", "1").fetch("paths")
    bytes = paths.map { |path| path.fetch("malloc_bytes_per_iteration") }

    assert_in_delta 114_688, bytes.last - bytes.first, 1000 # the class of jemalloc
  end

  def test_text_has_a_line_for_each_path
    write("config.ru", "run ->(_env) { [200, {}, []] }\n")
    out, err, status = run_carat("ips", "--seconds", "1")

    assert_predicate status, :success?, err
    assert_match(%r{\A +i/s +95 % +ms each +GC +objects +malloc +iterations  path\n}, out)
    assert_match(%r{^ *\d+\.\d +\d+\.\d to \d+\.\d +\d+\.\d{3} +\d+\.\d % +\d+\.\d +\d+ +\d+  /$}, out)
    assert_empty err
  end

  def test_interrupted_measurement_reports_what_is_known
    write("config.ru", "run ->(_env) { File.write(\"reached\", \"\"); [200, {}, []] }\n")
    report = JSON.parse(interrupted("ips", "--json", "--seconds", "3600"))

    assert_equal [true, ["/"]], [report.fetch("interrupted"), report.fetch("paths").map { |path| path.fetch("path") }]
  end

  def test_failures_are_one_clear_sentence
    assert_equal "--seconds: \"x\" is not a number from 1 to 3600\n", run_carat("ips", "--seconds", "x")[1]
  end

  private

  def assert_rate(path)
    low, high = path.fetch("interval")
    assert_operator low, :<=, path.fetch("iterations_per_second")
    assert_operator high, :>=, path.fetch("iterations_per_second")
    assert_operator path.fetch("seconds"), :>=, 0.9, path.inspect
    assert_in_delta path.fetch("iterations") / path.fetch("seconds"), path.fetch("iterations_per_second"),
                    path.fetch("iterations_per_second") * 0.01
  end
end
