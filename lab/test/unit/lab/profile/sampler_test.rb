# frozen_string_literal: true

require "minitest/autorun"
require "support/preloaded"

module Lab
  module Profile
    # What the sampler says about a program whose allocations are known.
    class SamplerTest < Minitest::Test
      include Support::Preloaded

      # A call of C that makes 200 Strings, during which Ruby cannot be changed; 100 calls that make an Object each; and
      # a large block. The lines count from 1.
      FILE = <<~RUBY
        WORDS = "word " * 200
        def burst = WORDS.split
        def single = Array.new(100) { Object.new }
        def large = "x" * 20_000
        def work(count) = count.times { burst; single; large }
      RUBY

      # The sums of a profile at the lines of that file, each with its callees.
      PROGRAM = <<~RUBY
        require "json"
        require "carat/lab/sampler"
        module Carat; SAMPLER = Lab::Sampler; public_constant :SAMPLER; end
        SAMPLER = Carat::SAMPLER
        ANY = 100 # Percent of the time: samples may cost what they cost.
        eval(#{FILE.inspect}, TOPLEVEL_BINDING, "/known.rb")
        def sums(profile, place)
          functions, callers, calls = profile.first, *profile[1, 2].map { |json| JSON.parse(json) }
          JSON.parse(profile[place]).each_with_index.with_object(Hash.new(0)) do |(weight, call), sums|
            stack = [call]
            stack << callers[stack.last] while callers[stack.last]
            lines = stack.filter_map { |one| functions[calls[one]].then { |row| row[3] if row[2] == "/known.rb" } }
            lines.uniq.each { |line| sums[line] += weight }
          end
        end
      RUBY
      BYTES = 3
      OBJECTS = 4

      # The chance of a window is 1/8, so of n objects in windows that are independent of each other, about n are found
      # with a deviation of sqrt(7 / n): here 3.4 %.
      def test_objects_are_counted_right_in_one_call_of_c_as_in_many_of_ruby
        burst, single, = run_work(6000, OBJECTS)

        assert_in_delta 203, burst, 203 * 0.17
        assert_in_delta 102, single, 102 * 0.17
        assert_in_delta 2, burst / single, 0.4 # four deviations
      end

      def test_blocks_are_counted_right
        assert_in_delta 20_480, run_work(3000, BYTES).last, 20_480 * 0.1
      end

      def test_objects_are_counted_right_without_carat_s_allocator
        burst, single, = run_work(1000, OBJECTS, library: "")

        assert_in_delta 201, burst, 201 * 0.1
        assert_in_delta 101, single, 101 * 0.1
      end

      def test_block_that_grows_is_freed_where_it_ends
        assert_equal "[true, true]\n", preloaded(<<~RUBY, program: PROGRAM)
          SAMPLER.start(4096, ANY)
          grow = c("realloc", POINTER, SIZE)
          kept, freed = Array.new(2) { (1..50).inject(nil) { |block, step| grow.call(block, step * 10_000) } }
          c("free", POINTER).call(freed)
          live = JSON.parse(SAMPLER.stop[5]).sum
          p [live > 300_000, live < 900_000]
        RUBY
      end

      def test_nothing_is_left_when_it_ends
        assert_equal "[true, true, nil, 0]\n", preloaded(<<~RUBY, program: PROGRAM)
          before = TracePoint.stat
          SAMPLER.start(4096, ANY)
          during = TracePoint.stat
          is_seen = during != before || RUBY_VERSION >= "4.0" # which leaves hooks of the heap out
          work(50)
          SAMPLER.stop
          work(50)
          after = TracePoint.stat
          SAMPLER.start(1 << 40, ANY)
          p [is_seen, after == before, SAMPLER.start(1, ANY), JSON.parse(SAMPLER.stop[#{OBJECTS}]).sum]
        RUBY
      end

      def test_child_that_is_forked_meanwhile_has_nothing_of_it
        assert_equal "[true, true]\n", preloaded(<<~RUBY, program: PROGRAM)
          before = TracePoint.stat.values
          SAMPLER.start(4096, ANY)
          work(50)
          reader, writer = IO.pipe
          fork { work(50); writer.write(TracePoint.stat.values == before) }
          writer.close
          Process.wait
          p [reader.read == "true", !SAMPLER.stop.nil?]
        RUBY
      end

      private

      def preloaded(script, program: "", **options) = super(program + script, **options)

      # What one of so many repetitions allocates at each line of FILE, from the second.
      def run_work(count, place, **options)
        preloaded(<<~RUBY, program: PROGRAM, **options).split.map(&:to_f)
          SAMPLER.start(4096, ANY)
          work(#{count})
          sums = sums(SAMPLER.stop, #{place})
          puts (2..4).map { |line| sums[line].fdiv(#{count}) }
        RUBY
      end
    end
  end
end
