# frozen_string_literal: true

require "etc"
require "rbconfig"
require_relative "../../test/support/default_signals"
require_relative "ruby_tests"
require_relative "side_by_side"
require_relative "step"

# Everything that must pass, in the order of its execution.
module Suite
  RUBY = RbConfig.ruby

  # Tests that do not depend on how many requests a worker takes at once, and must pass in fibers as in threads.
  IN_FIBERS = "test/integration/{rack_{after,body},form_{files,frameworks,params},slow_reader,process_stream," \
              "http_{body,encode_stream,file,range,response,stream},{blog,upload}_example}_test.rb"

  # Tests that load Rails, which changes encodings and more for a whole process.
  WITH_RAILS = "test/unit/parts/cable/**/*_test.rb"

  # Unit tests, and those that another Ruby may change: what passes on the oldest and the newest need not run between.
  UNITS = "{test,lab/test}/unit/**/*_test.rb"
  OF_RUBY = "{lab/test/unit/lab/{in_process,leak,profile,weigh}/**/,test/unit/{,{launch,log,malloc,native," \
            "parts/{cable,fibers,reload},processes,rack,request,response,warmup}/**/}}*_test.rb"

  # Tests of how much memory a server takes, which depends on when each process runs: nothing runs beside them.
  ALONE = "test/integration/{client_memory,http_decode_limits,idle_worker,process_memory,process_stream,slow_reader," \
          "upload_memory}_test.rb"

  # The tests that take longest begin first, so that no runner has one left at the end.
  LONG = "{test,lab/test}/{integration/{acme{,_demand},action_cable,allocations,app_process_recipes," \
         "cable{,_limits,_servers},cache,chaos,compare,gem,html_report,http_body_rate,leak,load,minitest," \
         "profile{,_time},rails_{databases,production,server,uploads},reload,tls,upgrade}," \
         "unit/{native/gc,parts/fibers/{fiber_lane,reactor,reactor/attachment}}}_test.rb"

  # What runs while the garbage collector does at every allocation has processes of its own: the collector then marks
  # none of the libraries that other tests load.
  STRESS = /stress/i

  # CARAT_TEST_ENCODING runs the integration tests with the encodings that Rails sets. The tests in fibers run the other
  # way.
  OTHER_ENCODING = { "CARAT_TEST_ENCODING" => ENV.key?("CARAT_TEST_ENCODING") ? nil : "UTF-8" }.freeze

  # The benchmark's programs are a workspace of their own. It shares the compiled crates.
  BENCH = %w[--manifest-path bench/Cargo.toml].freeze
  SHARED = ["--workspace", "--target-dir", ENV.fetch("CARGO_TARGET_DIR", "target")].freeze

  # The fuzz targets are another. Nothing is linked for clippy, so that any file does for their library of C++.
  FUZZ = %w[--manifest-path fuzz/Cargo.toml].freeze
  NO_LIBFUZZER = { "CUSTOM_LIBFUZZER_PATH" => File.expand_path("fuzz/Cargo.toml") }.freeze

  # So is the crate of the gem carat-lab.
  LAB = %w[--manifest-path lab/crate/Cargo.toml].freeze

  # In the profile of the build, of which build scripts, macros, and libraries of C are compiled already.
  LINTS = %w[--release --all-targets --locked -- -D warnings].freeze

  # Without its parts, the edge is simulated with seeds that the other simulation does not run.
  OTHER_SEEDS = { "CARAT_SIM_FIRST" => "10000", "CARAT_SIM_SEEDS" => "2000" }.freeze

  # What runs without an argument, in this order.
  GROUPS = %w[checks rust units integration fibers fuzz].freeze

  # The lines above the failures; .ci/run looks for them.
  REPEATED = "== what failed and passed when it was repeated alone"
  FAILED = "== what failed"

  # Tests wait for processes about half of the time: four runners keep two processors busy.
  RUNNERS = (Etc.nprocessors * 2).clamp(2, 4)

  # Each long file is a part of its own, and of the others `size` files are one; those under stress are parts of four. A
  # free runner takes the next part, a process.
  # @param further [Array<Step>] processes that run beside them
  def self.shared_ruby_tests(name, files, size, further: [], **options)
    long, short = files.partition { |file| File.fnmatch?(LONG, file, File::FNM_EXTGLOB) }
    stressed, others = short.partition { |file| file.include?("/unit/") && File.read(file).match?(STRESS) }
    parts = long.each_slice(1).to_a + stressed.each_slice(4).to_a + others.each_slice(size).to_a
    steps = parts.map.with_index(1) do |part, number|
      RubyTests.new("#{name}, part #{number} of #{parts.size}", part, **options)
    end
    SideBySide.new(further + steps, RUNNERS)
  end

  # What takes one processor runs beside clippy, which has long ends on one.
  def self.checks
    [SideBySide.new([Step.new("clippy", *%w[cargo clippy --workspace], *LINTS), *sources], 2)]
  end

  def self.sources
    [
      Step.new("RuboCop", "rubocop", "--format", "quiet"),
      Step.new("rustfmt", "cargo", "fmt", "--all", "--check"),
      Step.new("rustfmt of the benchmark", "cargo", "fmt", *BENCH, "--all", "--check"),
      Step.new("rustfmt of the fuzz targets", "cargo", "fmt", *FUZZ, "--all", "--check"),
      Step.new("rustfmt of the lab", "cargo", "fmt", *LAB, "--check"),
      Step.new("sizes of files and functions", RUBY, "script/suite/sizes.rb"),
      Step.new("who knows whom", RUBY, "script/suite/layers.rb"),
      Step.new("parts that the core names", RUBY, "script/suite/parts.rb"),
      Step.new("files for deployment", "script/lint_deploy"),
      Step.new("the site of the documentation", "script/site")
    ]
  end

  def self.rust
    test = %w[cargo test --locked --no-fail-fast]
    [Step.new("Rust tests", *test, "--workspace", reader: :cargo),
     Step.new("Rust tests of an edge without parts", OTHER_SEEDS, *test, *%w[-p carat-edge --no-default-features],
              reader: :cargo), *further_lints]
  end

  # What CI lints with one compiler: another one finds the same in these as in the workspace.
  def self.further_lints
    [Step.new("clippy of an edge without parts", *%w[cargo clippy -p carat-edge --no-default-features], *LINTS),
     Step.new("clippy of the benchmark", "cargo", "clippy", *BENCH, *SHARED, *LINTS),
     Step.new("clippy of the fuzz targets", NO_LIBFUZZER, "cargo", "clippy", *FUZZ, *SHARED, *LINTS),
     Step.new("clippy of the lab", "cargo", "clippy", *LAB, *SHARED, *LINTS)]
  end

  def self.units(files = UNITS)
    with_rails = Dir[WITH_RAILS].sort
    further = [RubyTests.new("Ruby unit tests with Rails", with_rails)]
    [shared_ruby_tests("Ruby unit tests", Dir[files].sort - with_rails, 16, further:)]
  end

  def self.ruby
    units(OF_RUBY)
  end

  def self.integration
    [
      shared_ruby_tests("integration tests", Dir["{test,lab/test}/integration/**/*_test.rb"].sort - Dir[ALONE], 4),
      RubyTests.new("integration tests of memory", Dir[ALONE].sort)
    ]
  end

  def self.fibers
    env = { "CARAT_TEST_FIBERS" => "80", **OTHER_ENCODING }
    alone, shared = Dir[IN_FIBERS].sort.partition { |file| Dir[ALONE].include?(file) }
    [shared_ruby_tests("integration tests in fibers", shared, 4, env:),
     RubyTests.new("integration tests of memory in fibers", alone, env:)]
  end

  # The first minutes: small crates, what the command understands, and a few requests.
  def self.quick
    crates = %w[carat-guard carat-fields carat-policy carat-wire].flat_map { |name| ["-p", name] }
    [
      Step.new("Rust tests of small crates", *%w[cargo test --locked --no-fail-fast], *crates, reader: :cargo),
      RubyTests.new("Ruby unit tests", Dir["test/unit/{config,log,request,response}/**/*_test.rb"].sort),
      RubyTests.new("integration tests", Dir["test/integration/{http_response,log,rack_body}_test.rb"].sort)
    ]
  end

  def self.fuzz
    [Step.new("fuzz targets", RUBY, "script/suite/fuzz.rb", silence: 150)]
  end

  def self.run(steps)
    steps.each(&:run)
    repeated = steps.flat_map(&:failed).to_h { |step| [step.name, step.repeat] }
    failed = steps.flat_map(&:failed).to_h { |step| [step.name, step.failures] }
    name_slowest(steps.map(&:seconds).reduce(:merge))
    report(REPEATED, repeated)
    report(FAILED, failed)
    puts "", steps.map(&:tally).reduce(:+)
    failed.empty?
  end

  # Prints which files took longest: what takes long and is not in LONG may be the last to end.
  def self.name_slowest(seconds)
    slowest = seconds.max_by(20) { |_, time| time }
    return if slowest.empty?

    puts "", "== the files that took longest", slowest.map { |file, time| format("%4d s %s", time, file) }
  end

  # Prints the paragraphs about failures in each step.
  def self.report(title, failures)
    failures = failures.reject { |_, paragraphs| paragraphs.empty? }
    puts "", title if failures.any?
    failures.each { |step, paragraphs| puts "", "in #{step}:", paragraphs.join("\n\n") }
  end
end

groups = ARGV.empty? ? Suite::GROUPS : ARGV
unless (groups - Suite::GROUPS - %w[quick ruby]).empty?
  abort "usage: script/test [quick | ruby | #{Suite::GROUPS.join(" | ")} ...]"
end
steps = groups.flat_map { |group| Suite.public_send(group) }

$stdout.sync = true
Support::DefaultSignals.restore
begin
  exit Suite.run(steps)
rescue Interrupt
  abort "\ninterrupted"
rescue SignalException => e
  abort "\nended by #{e.message}"
end
