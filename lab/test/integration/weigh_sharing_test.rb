# frozen_string_literal: true

require "test_helper"

# What `carat weigh` says about the memory that a worker shares with the mold, by gem.
class WeighSharingTest < Minitest::Test
  include Support::Eventually
  include Support::WeighedApplication

  MIB = 1024 * 1024
  # Pages that a gem has in part, and what others have in its pages.
  EDGE = MIB / 4

  def test_memory_that_requests_write_becomes_private
    gem("still", "STILL = \"x\" * #{3 * MIB}")
    gem("written", "WRITTEN = \"y\" * #{3 * MIB}")
    sharing = sharing("0.step(WRITTEN.bytesize - 1, 1000) { |index| WRITTEN.setbyte(index, 122) }")

    %w[still written].each { |name| assert_share(sharing, "after_fork", name, shared: 3 * MIB, private: 0) }
    assert_share(sharing, "after_load", "still", shared: 3 * MIB, private: 0)
    assert_share(sharing, "after_load", "written", shared: 0, private: 3 * MIB)
  end

  def test_objects_belong_to_their_gem_after_compaction_has_moved_them
    # Every second object goes, so others move to their places.
    list = "Array.new(100_000) { Object.new }.each_slice(2).map(&:first)"
    gem("still", "STILL = #{list}")
    gem("written", "WRITTEN = #{list}")
    sharing = sharing("WRITTEN.each { |object| object.instance_variable_set(:@value, nil) }")
    bytes = 50_000 * 48

    %w[still written].each { |name| assert_share(sharing, "after_fork", name, shared: bytes, private: 0) }
    assert_operator share(sharing, "after_load", "written").fetch("private"), :>, 50_000 * 40 * 0.9
  end

  def test_shared_and_private_memory_add_up_to_the_pss_of_the_worker
    gem("large", "LARGE = Array.new(50_000) { |index| index.to_s * 20 }")
    sharing = sharing("LARGE.first(20_000).each { |text| text.setbyte(0, 65) }")

    assert_equal 200, sharing.fetch("requests")
    %w[after_fork after_load].each do |name|
      assert_sum sharing.fetch(name).fetch("pss"), sharing.fetch(name).fetch("gems").map { |row| row.fetch("pss") }
    end
  end

  def test_rails_application_adds_up_to_its_growth_and_to_the_pss_of_a_worker
    Support::Shop::FILES.each { |name, text| write(name, text) }
    out, err, status = run_weigh("--json", "-e", "production", "--path", "/items")
    assert_predicate status, :success?, err
    report = JSON.parse(out)
    sharing = report.fetch("sharing")

    assert_sum report.fetch("growth"), report.fetch("parts").values
    assert_nil sharing.fetch("problem")
    %w[after_fork after_load].each do |name|
      assert_sum sharing.fetch(name).fetch("pss"), sharing.fetch(name).fetch("gems").map { |row| row.fetch("pss") }
    end
    assert_operator share(sharing, "after_fork", "actionpack").fetch("shared"), :>, MIB
    # The lists of the measurement would be memory of the boot.
    assert_operator share(sharing, "after_fork", "(boot)").fetch("shared"), :<, MIB
    assert_equal "activerecord", report.fetch("gems").first.fetch("gem")
  end

  def test_machine_code_of_the_mold_is_shared_that_of_requests_private
    skip "YJIT of this Ruby cannot be enabled" unless RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.respond_to?(:enable)
    write("config.ru", "def tally(n) = n < 2 ? n : tally(n - 1) + tally(n - 2)\n" \
                       "run ->(env) { tally(env[\"PATH_INFO\"].size); [200, {}, []] }\n")
    write("carat.rb", "jit \"yjit\"\nwarm_up \"/abcdefgh\"\n")
    out, err, status = run_weigh("--json")
    assert_predicate status, :success?, err
    sharing = JSON.parse(out).fetch("sharing")

    assert_operator share(sharing, "after_fork", "(machine code)").fetch("shared"), :>, 4096
    assert_equal 0, share(sharing, "after_fork", "(machine code)").fetch("private")
    assert_operator share(sharing, "after_load", "(machine code)").fetch("private"), :>, 4096
  end

  def test_threads_that_allocate_do_not_stop_the_measurement
    gem("busy", "Array.new(3) { Thread.new { loop { Array.new(50) { \"x\" * rand(2000) } } } }\n" \
                "BUSY = Array.new(20_000) { \"x\" * 100 }")

    strings = 20_000 * (40 + 112)
    # The threads leave garbage.
    assert_includes (strings * 0.9)..(strings * 2), share(sharing("nil"), "after_fork", "busy").fetch("shared")
  end

  def test_path_that_fails_is_one_sentence_and_the_rest_is_reported
    write("config.ru", "run ->(env) { [env[\"PATH_INFO\"] == \"/good\" ? 200 : 500, {}, []] }\n")
    out, err, status = run_weigh
    assert_predicate status, :success?, err
    assert_match(/^carat: GET \/ responds with status 500; name a path that works with --path$/, out)
    assert_match(/^MiB of a worker +shared after the fork +private$/, out)

    out, = run_weigh("--path", "/good")
    assert_match(/^MiB of a worker +shared after the fork +private +shared after the load +private$/, out)
    assert_match(/^PSS by the kernel +\d+\.\d\d +\d+\.\d\d$/, out)
  end

  def test_worker_that_ends_is_one_sentence
    write("config.ru", "run ->(_env) { exit!(3) }\n")
    out, err, status = run_weigh

    assert_predicate status, :success?, err
    assert_match(/^carat: the forked worker ended, or GET \/ did not$/, out)
  end

  def test_interrupt_during_the_load_leaves_the_rest
    write("config.ru", "run ->(_env) { File.write(\"reached\", \"\"); sleep }\n")
    out = IO.popen([*COMMAND, "weigh", "--json", { chdir: @directory }]) do |command|
      eventually { File.exist?(path("reached")) }
      Process.kill(:INT, command.pid)
      command.read
    end
    report = JSON.parse(out)

    assert_equal [true, nil], report.values_at("interrupted", "sharing")
    assert_operator report.fetch("growth"), :>, 0
  end

  private

  def gem(name, code)
    write("gems/#{name}-1.0.0/lib/#{name}.rb", "#{code}\n")
  end

  # The report about an application that loads all gems, and runs the code in each request.
  def sharing(code)
    names = Dir["gems/*", base: @directory].map { |path| File.basename(path, "-1.0.0") }.sort
    loads = names.map { |name| "require \"#{path("gems/#{name}-1.0.0/lib/#{name}")}\"\n" }.join
    write("config.ru", "#{loads}run ->(_env) { #{code}; [200, {}, []] }\n")
    out, err, status = run_weigh("--json")
    assert_predicate status, :success?, err
    JSON.parse(out).fetch("sharing").tap { |sharing| assert_nil sharing.fetch("problem") }
  end

  def assert_sum(whole, parts)
    assert_in_delta 1.0, parts.sum / whole.to_f, 0.1, parts.inspect
  end

  def assert_share(sharing, sample, name, **bytes)
    found = share(sharing, sample, name)
    bytes.each do |kind, expected|
      assert_in_delta expected, found.fetch(kind.to_s), EDGE + (expected / 8), found.inspect
    end
  end

  def share(sharing, sample, name)
    sharing.fetch(sample).fetch("gems").find { |row| row.fetch("gem") == name }
  end
end
