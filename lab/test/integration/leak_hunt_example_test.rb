# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "open3"
require "rbconfig"

# The hunt of lab/docs/lab.md, in smaller rounds.
class LeakHuntExampleTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  EXAMPLE = File.join(ROOT, "examples/leak_hunt")
  COMMAND = [RbConfig.ruby, File.join(ROOT, "exe/carat"), "leak", "--json", "--requests", "211", "--rounds", "8"].freeze

  def test_leak_is_where_the_page_says
    report = hunt
    place = report.fetch("sites").first

    assert_equal ["leak", "switchboard.rb", line("connection.extend(Protocol)")],
                 [report["verdict"], File.basename(place["file"]), place["line"]]
    assert_includes place["path"], "Switchboard @registry"
    assert_includes File.read(File.join(ROOT, "lab/docs/lab.md")), "switchboard.rb:#{place["line"]}\n"
  end

  def test_without_the_protocol_less_leaks
    report = hunt("WITHOUT" => "protocol")

    assert_equal "leak", report["verdict"]
    assert_in_delta 2, report["objects_per_request"], 0.01
  end

  def test_without_the_registry_nothing_leaks
    assert_innocent hunt("WITHOUT" => "registry")
  end

  def test_repair_holds
    assert_innocent hunt("REPAIRED" => "1")
  end

  private

  def hunt(env = {})
    out, err, status = Open3.capture3(env, *COMMAND, chdir: EXAMPLE)
    assert_predicate status, :success?, err
    JSON.parse(out)
  end

  # With a JIT compiler, tables that Ruby makes wider may add 3 KB in all, and then stay: a "bounded cache".
  def assert_innocent(report)
    assert_includes ["no leak", "bounded cache"], report["verdict"]
    assert_in_delta 0, report["objects_per_request"], 0.01
  end

  def line(text)
    File.readlines(File.join(EXAMPLE, "switchboard.rb")).index { |line| line.include?(text) } + 1
  end
end
