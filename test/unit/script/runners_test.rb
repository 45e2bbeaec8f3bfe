# frozen_string_literal: true

require "stringio"
require "test_helper"
require_relative "../../../script/suite/ruby_tests"
require_relative "../../../script/suite/step"

# A runner counts as failed whatever it does, unless it says how many tests have passed and ends well.
class RunnersTest < Minitest::Test
  include Support::Workplace

  GOOD = "test result: ok. 2 passed; 0 failed; 0 ignored"

  def test_only_counts_and_a_good_end_are_a_success
    { ["puts #{GOOD.dump}"] => [2, 0, 0], ["puts #{GOOD.dump}; exit 1"] => [2, 1, 0],
      ["puts 'test result: FAILED. 3 passed; 2 failed; 1 ignored', #{GOOD.dump}; exit 1"] => [5, 2, 1],
      ["puts 'all is well'"] => [0, 1, 0], ["sleep", 0.2] => [0, 1, 0] }.each do |(program, seconds), counts|
      step = Suite::Step.new("x", RbConfig.ruby, "-e", program, reader: :cargo, within: seconds || 60)
      assert_equal counts, step.run(out: StringIO.new).to_a, program
    end
    assert_equal 1, Suite::Step.new("x", "/nonexistent/runner").run(out: StringIO.new).failed
  end

  def test_an_interrupt_reaches_the_command_and_waits_for_its_end
    program = 'trap("INT") { exit }; at_exit { puts "cleaned up" }; puts "ready"; $stdout.flush; sleep'
    reader, out = IO.pipe
    step = Thread.new { Suite::Step.new("x", RbConfig.ruby, "-e", program).run(out: out) }
    step.report_on_exception = false
    nil until reader.gets.include?("ready")
    step.raise(Interrupt)
    assert_raises(Interrupt) { step.join }
    out.close

    assert_equal "cleaned up\n", reader.read
  ensure
    [reader, out].each(&:close)
  end

  def test_a_failure_is_repeated_alone_unless_the_process_died
    once = ->(failure) { "File.exist?('mark') || (File.write('mark', '') && #{failure})" }
    # The two tests of the process, the counts, and what is repeated and passes.
    [[once["flunk('too late')"], "true", [2, 0, 0], /PlantedTest#test_first .*too late/m],
     [once["raise('gone')"], "skip", [1, 0, 1], /gone/], [once["flunk"], "at_exit { exit!(3) }", [1, 1, 0], /\A\z/],
     ["File.exist?('mark') ? skip : (File.write('mark', '') && flunk)", "true", [1, 1, 0], /\A\z/],
     ['flunk("caf\xC3 \xFF".b)', "true", [1, 1, 0], /\A\z/], ["exit!(1)", "exit!(1)", [0, 1, 0], /\A\z/],
     ["raise Interrupt", "raise Interrupt", [0, 1, 0], /\A\z/]].each do |first, second, counts, repeated|
      FileUtils.rm_f("mark")
      step = run_ruby(first, second)
      said = step.repeat(out: StringIO.new).join
      assert_equal counts, step.tally.to_a, first
      assert_match repeated, said, first
    end
  end

  def test_a_file_that_does_not_load_is_a_failure
    step = Suite::RubyTests.new("planted", [path("none_test.rb")])

    assert_equal 1, step.run(out: StringIO.new).failed
    assert_match(/LoadError/, step.failures.join)
  end

  private

  def run_ruby(first, second)
    write("planted_test.rb", <<~RUBY)
      require "minitest/autorun"

      class PlantedTest < Minitest::Test
        def test_first = (#{first})
        def test_second = (#{second})
      end
    RUBY
    Suite::RubyTests.new("planted", [path("planted_test.rb")]).tap { |step| step.run(out: StringIO.new) }
  end
end
