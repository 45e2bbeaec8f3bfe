# frozen_string_literal: true

require "test_helper"

# `carat compare`, mostly for one round and with a generator that takes no time; `bench/compare_table` has whole
# comparisons.
class CompareTest < Minitest::Test
  include Support::Eventually
  include Support::LabApplication

  ONCE = %w[compare --seconds 1 --rounds 1].freeze
  QUANTITIES = %w[requests_per_second p50 p99 cpu_per_request pss_at_rest pss_at_end allocations_per_request
                  failed_share].freeze
  # Notes what served a request, once for each process, and responds.
  NOTING = <<~'RUBY'
    NOTED = []
    run(lambda do |env|
      File.write(%<path>p, "#{(%<code>s)}\n", mode: "a") if NOTED.empty? && NOTED.push(1)
      [200, {}, []]
    end)
  RUBY

  def setup
    super
    @quick = Support::QuickGenerator.install(path("bin"))
  end

  # 12 rounds, the fewest that have a verdict, take longer than the other tests.
  def test_certain_difference_is_found_and_the_rest_is_not
    write("config.ru", "COUNT = ENV[\"RACK_ENV\"] == \"production\" ? 40 : 20\n" \
                       "run ->(_env) { COUNT.times { Object.new }; [200, {}, []] }\n")
    write("a.rb", "environment \"staging\"\n")
    write("b.rb", "environment \"production\"\n")
    report = report("compare", "--rounds", "12", "a.rb", "b.rb", env: @quick)
    allocations = quantity(report, "allocations_per_request")

    assert_equal ["different", true], [report["verdict"], allocations["differs"]]
    assert_in_delta 20, allocations["b"] - allocations["a"], 1
    assert_operator allocations["interval"].first, :>, 1.01
    assert_equal([false, 1.0, [1.0, 1.0]], quantity(report, "p50").values_at("differs", "ratio", "interval"))
    assert_equal [{ "name" => "A", "server" => "carat", "choice" => "a.rb" },
                  { "name" => "B", "server" => "carat", "choice" => "b.rb" }], report["setups"]
  end

  def test_round_measures_every_quantity_of_both_set_ups
    report = once("--threads", "2,2")

    assert_equal [1, nil, false, 1, 12], report.values_at("schema", "verdict", "interrupted", "rounds", "rounds_needed")
    assert_equal QUANTITIES, report["quantities"].map { |row| row["name"] }
    assert_equal [QUANTITIES] * 2, report["samples"].first.map(&:keys)
    assert_empty report["samples"].first.flat_map(&:values).select(&:nil?)
    assert_equal [0.0, 0.0], quantity(report, "failed_share").values_at("a", "b")
    assert_equal [nil, "both set-ups load the same code"], report.values_at("memory", "unweighed")
  end

  def test_allocators_are_those_of_the_workers
    note("File.read(\"/proc/self/maps\").include?(\"malloc.so\")")
    once("--allocator", "glibc,jemalloc", env: @quick)

    assert_equal %w[false true], notes
  end

  def test_puma_serves_as_b
    note("env[\"SERVER_SOFTWARE\"].to_s[/puma/i].inspect")
    report = once("--with", "puma")

    assert_equal ["nil", "\"puma\""], notes
    assert_equal %w[carat puma], report["setups"].map { |setup| setup["server"] }
    assert_empty report["samples"].first.flat_map(&:values).select(&:nil?)
  end

  def test_puma_has_as_many_workers_and_threads
    note("[Process.ppid, Thread.list.count { |thread| thread.name.to_s.include?(\"puma\") }].inspect")
    write("carat.rb", "workers 2\nthreads 7\n")
    report = once("--with", "puma", "--connections", "40")
    pairs = notes.map { |text| JSON.parse(text) }

    # A master with two workers, each with a pool of its own.
    assert_equal 2, pairs.last(2).map(&:first).tally.values.max
    assert_operator pairs.last.last, :>=, 7
    assert_operator quantity(report, "allocations_per_request")["b"], :>, 1
  end

  def test_rubies_differ
    note("ENV[\"WHICH_RUBY\"].inspect")
    write("bin/other", "#!/bin/sh\nWHICH_RUBY=other exec #{RbConfig.ruby} \"$@\"\n")
    File.chmod(0o755, path("bin/other"))
    once("--ruby", "ruby,#{path("bin/other")}", env: @quick)

    assert_equal ["nil", "\"other\""], notes.first(2)
  end

  def test_commits_differ_and_the_working_tree_stays
    note("[1, File.expand_path(ENV[\"BUNDLE_GEMFILE\"]) == File.expand_path(\"Gemfile\")].join(\" \")")
    git("init", "-q")
    commit
    note("2")
    commit
    note("3")
    report = once("--commit", "HEAD~1,HEAD", env: { **@quick, "BUNDLE_GEMFILE" => path("Gemfile") })

    assert_equal ["1 true", "2"], notes.first(2)
    assert_equal ["commit HEAD~1", "commit HEAD"], report["setups"].map { |setup| setup["choice"] }
    assert_includes File.read(path("config.ru")), "3"
  end

  def test_versions_of_a_gem_differ
    %w[1.0.0 2.0.0].each { |version| install_gem(version) }
    write("config.ru", "require \"heavy\"\nmap(\"/page\") { #{noting("HEAVY")} }\n")
    report = once("--path", "/page", "--gem-version", "heavy=1.0.0,2.0.0", env: gems)
    tree = report.dig("memory", "tree", "children")

    assert_equal %w[1.0.0 2.0.0], notes.first(2)
    assert_equal([["lib/heavy.rb", "heavy"]], tree.map { |node| node.values_at("file", "gem") })
    # Each version keeps its number of MB.
    assert_in_delta 1_000_000, tree.first["inclusive"].reverse.reduce(:-), 100_000
  end

  def test_versions_of_a_gem_in_the_bundle_differ
    %w[1.0.0 1.5.0 2.0.0].each { |version| install_gem(version) }
    write("Gemfile", "gem \"rack\"\ngem \"heavy\", \"~> 1.0\"\n")
    write("config.ru", "require \"bundler/setup\"\nrequire \"heavy\"\n#{noting("HEAVY")}")
    once("--gem-version", "heavy=2.0.0,1.0.0", env: gems)

    assert_equal %w[2.0.0 1.0.0], notes.first(2)
    assert_equal "gem \"rack\"\ngem \"heavy\", \"~> 1.0\"\n", File.read(path("Gemfile"))
  end

  def test_version_that_the_application_does_not_load_is_refused
    install_gem("1.0.0")
    write("config.ru", "Gem.loaded_specs.delete(\"heavy\")\n#{RACKUP}")
    _, err, status = carat(*ONCE, "--gem-version", "heavy=1.0.0,1.0.0", env: gems)

    assert_equal ["carat: --gem-version: heavy 1.0.0: the application does not load it\n", 1], [err, status]
  end

  def test_version_that_is_not_installed_is_one_sentence
    write("config.ru", RACKUP)
    _, err, status = carat(*ONCE, "--gem-version", "heavy=3.0.0,1.0.0", env: gems)

    assert_equal ["carat: --gem-version: heavy 3.0.0 is not installed: gem install heavy --version 3.0.0\n" \
                  "carat: the application does not boot; the lines above say why\n", 1], [err, status]
  end

  def test_interrupted_comparison_reports_what_is_known
    write("config.ru", "run ->(_env) { File.write(\"reached\", \"\"); [200, {}, []] }\n")
    report = interrupted_report("compare", "--threads", "1,2", "--seconds", "600") { File.exist?(path("reached")) }

    assert_equal [true, nil, 0, []], report.values_at("interrupted", "verdict", "rounds", "samples")
  end

  def test_what_is_missing_is_named
    _, err, status = carat(*ONCE, "--commit", "a,b")
    assert_equal ["carat: --commit: #{@directory} is in no git repository\n", 1], [err, status]

    git("init", "-q")
    assert_equal "carat: --commit: git finds no commit a\n", carat(*ONCE, "--commit", "a,b")[1]
    assert_match(/\Acarat: Puma is not installed: /, carat(*ONCE, "--with", "puma", env: { "PATH" => path("bin") })[1])
    assert_match(/\Acarat: no load generator is /, carat(*ONCE, "--threads", "1,2", env: { "PATH" => "/" })[1])
  end

  def test_wrong_arguments_are_one_clear_sentence
    {
      [] => "name what differs: two config files, or a flag such as --threads 1,5 (carat compare --help lists them)\n",
      %w[--threads 1] => "name what differs: two config files, or a flag such as --threads 1,5 " \
                         "(carat compare --help lists them)\n",
      %w[a.rb] => "a.rb: name two config files, or none\n",
      %w[a.rb b.rb] => "a.rb: there is no file #{path("a.rb")}\n",
      %w[a.ru b.ru] => "b.ru: one rackup file is enough\n",
      %w[--threads many,1] => "--threads: \"many\" is not a whole number from 1 to 100\n",
      %w[--threads 1,2,3] => "--threads: \"1,2,3\" has more than two values\n",
      %w[--ruby ruby] => "--ruby: \"ruby\" is not two values such as A,B\n",
      %w[--ruby ruby,/nowhere] => "--ruby: /nowhere: no such program\n",
      %w[--with unicorn] => "--with: \"unicorn\" is not puma, the only other server\n",
      %w[--with puma --allocator glibc,jemalloc] => "--with puma: Puma has no option `allocator`\n",
      %w[--gem-version rack] => "--gem-version: \"rack\" is not a gem with two versions, such as rack=2.2.4,3.0.0\n",
      %w[--budget 0 --threads 1,2] => "--budget: \"0\" is not a number from 1 to 86400\n"
    }.each { |words, message| assert_equal ["", message, 78], carat("compare", *words) }
  end

  # The config file runs in the command, too.
  def test_environment_that_one_config_file_sets_is_not_that_of_the_other
    note("ENV[\"PLANTED\"].inspect")
    write("a.rb", "")
    write("b.rb", "ENV[\"PLANTED\"] = \"b\"\n")
    once("a.rb", "b.rb", env: @quick)

    assert_equal ["nil", "\"b\""], notes.first(2)
    File.delete(path("notes"))
    write("carat.rb", "ENV[\"PLANTED\"] = \"both\"\n")
    once("--with", "puma", env: @quick)
    assert_equal ["\"both\""] * 2, notes
  end

  private

  # A comparison of one round, which has no verdict.
  def once(*words, env: {})
    report(*ONCE, *words, env:, expected: 2)
  end

  def note(code)
    write("config.ru", noting(code))
  end

  def noting(code)
    format(NOTING, path: path("notes"), code:)
  end

  # What each of the servers has noted, A first; `carat weigh` follows where the code differs.
  def notes
    File.readlines(path("notes"), chomp: true)
  end

  def quantity(report, name)
    report["quantities"].find { |row| row["name"] == name }
  end

  def git(*words)
    identity = %w[-c user.name=test -c user.email=test@localhost -c commit.gpgsign=false]
    assert system("git", *identity, *words, chdir: @directory), "git #{words.join(" ")}"
  end

  def commit
    git("add", "config.ru")
    git("commit", "-qm", "change")
  end

  # A gem in a repository of the test's own, found beside those of the system.
  def install_gem(version)
    write("gems/gems/heavy-#{version}/lib/heavy.rb",
          "HEAVY = #{version.inspect}\nKEPT = \"x\" * #{version.to_i * 1_000_000}\n")
    write("gems/specifications/heavy-#{version}.gemspec", <<~RUBY)
      Gem::Specification.new do |spec|
        spec.name, spec.version = "heavy", #{version.inspect}
        spec.summary, spec.authors = "A gem", ["test"]
        spec.require_paths = ["lib"]
      end
    RUBY
  end

  def gems
    { **@quick, "GEM_PATH" => [path("gems"), *Gem.path].join(":") }
  end
end
