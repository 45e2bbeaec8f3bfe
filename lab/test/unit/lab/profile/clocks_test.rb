# frozen_string_literal: true

require "minitest/autorun"
require "support/preloaded"

module Lab
  module Profile
    # What the clocks say about programs whose time is known.
    class ClocksTest < Minitest::Test
      include Support::Preloaded

      # The lines count from 1.
      FILE = <<~RUBY
        def hot(count) = count.times { |number| Math.sqrt(number) }
        def cool(count) = count.times { |number| Math.sqrt(number) }
        def nap = sleep(0.3)
        def work(rounds) = rounds.times { hot(40_000); cool(10_000) }
      RUBY

      # The sums of a profile at the lines of that file, each with its callees.
      PROGRAM = <<~RUBY
        require "io/wait"
        require "json"
        require "carat/lab/clocks"
        module Carat; CLOCKS = Lab::Clocks; public_constant :CLOCKS; end
        CLOCKS = Carat::CLOCKS
        CPU, WALL, GVL = 1, 2, 4
        NAMES = { CPU => 3, WALL => 4, GVL => 5 }
        eval(#{FILE.inspect}, TOPLEVEL_BINDING, "/known.rb")
        def sums(profile, clock)
          functions, callers, calls = profile.first, *profile[1, 2].map { |json| JSON.parse(json) }
          JSON.parse(profile[NAMES.fetch(clock)]).each_with_index.with_object(Hash.new(0)) do |(weight, call), sums|
            stack = [call]
            stack << callers[stack.last] while callers[stack.last]
            names = stack.filter_map { |one| functions[calls[one]].then { |row| row[1] if row[2] == "/known.rb" } }
            names.uniq.each { |name| sums[name[/\\w+\\z/].to_sym] += weight }
          end
        end
        def profile(clocks, micros = 1000)
          CLOCKS.start(clocks, micros)
          yield
          CLOCKS.stop
        end
        def spent = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        def work_for(seconds) = spent.then { |began| work(1) until spent - began > seconds }
        def signal_is_caught = File.read("/proc/self/status")[/SigCgt:\\s*(\\h+)/, 1].hex[Signal.list["PROF"] - 1] == 1
        def timer_runs
          bytes = "\\0" * 32
          c("getitimer", INT, POINTER).call(2, bytes)
          bytes.unpack("q4").any?(&:positive?)
        end
      RUBY

      def test_cpu_belongs_to_the_method_that_computes
        hot, cool, nap, all, samples = numbers(<<~RUBY)
          profile = profile(CPU) { work_for(0.6); nap }
          sums = sums(profile, CPU)
          p(*sums.values_at(:hot, :cool), sums[:nap], JSON.parse(profile[3]).sum, profile[6])
        RUBY

        assert_operator samples, :>, 30
        assert_in_delta 0.8, hot / (hot + cool), 0.25
        assert_operator hot + cool, :>, all * 0.8
        assert_operator nap, :<, all * 0.05
      end

      def test_wall_clock_also_sees_who_sleeps
        skip "Ruby 3.3 reads the frames of other threads" if RUBY_VERSION < "3.3"
        nap, all = numbers(<<~RUBY)
          reader, writer = IO.pipe
          profile = profile(WALL) do
            Thread.new { nap; writer.close }
            reader.wait_readable # As the main thread of a worker waits for orders.
          end
          p sums(profile, WALL)[:nap], JSON.parse(profile[4]).sum
        RUBY

        assert_operator nap, :>, 250_000
        assert_operator nap, :>, all * 0.9
      end

      def test_threads_that_want_to_run_at_once_wait_for_the_lock
        skip "Ruby 3.2 has events of threads" if RUBY_VERSION < "3.2"
        hot, cool, all, waited, ran = numbers(<<~RUBY)
          profile = profile(GVL) { Array.new(2) { Thread.new { work_for(0.5) } }.each(&:join) }
          sums = sums(profile, GVL)
          p(*sums.values_at(:hot, :cool), JSON.parse(profile[5]).sum, *profile[11, 2])
        RUBY

        assert_in_delta 0.5, waited / (waited + ran), 0.2
        # Ruby takes the lock away every 0.1 s, wherever a thread is then: too seldom to say more.
        assert_includes 1..all, hot + cool
      end

      def test_clocks_that_ruby_does_not_have_are_named
        known = [nil, RUBY_VERSION < "3.3", RUBY_VERSION < "3.2"]
        words = preloaded("p [CPU, WALL, GVL].map { |clock| CLOCKS.obstacle(clock) }", program: PROGRAM)

        assert_equal known.map { |is_missing| is_missing ? true : false },
                     words.scan(/nil|"[^"]*since Ruby 3\.\d"/).map { |word| word != "nil" }
      end

      def test_nothing_is_left_when_it_ends
        assert_equal "[true, true, false, false, nil]\n", preloaded(<<~RUBY, program: PROGRAM)
          during = nil
          profile(CPU) { during = [signal_is_caught, timer_runs] }
          p [*during, signal_is_caught, timer_runs, CLOCKS.stop]
        RUBY
      end

      def test_another_profiler_keeps_its_signal
        assert_match(/\ASIGPROF has a handler, true\n\z/, preloaded(<<~RUBY, program: PROGRAM))
          trap("PROF") { }
          refusal = begin
            CLOCKS.start(CPU, 1000)
          rescue => e
            e.message[/SIGPROF.*/]
          end
          puts "\#{refusal}, \#{signal_is_caught}"
        RUBY
      end

      def test_child_that_is_forked_meanwhile_has_nothing_of_it
        assert_equal "[true, true]\n", preloaded(<<~RUBY, program: PROGRAM)
          CLOCKS.start(CPU, 1000)
          work(20)
          child = fork { work(20); exit!(CLOCKS.stop.nil? && !timer_runs ? 0 : 1) }
          Process.wait(child)
          p [$?.success?, !CLOCKS.stop.nil?]
        RUBY
      end

      def test_methods_that_are_gone_by_the_end_are_named
        assert_equal "true\n", preloaded(<<~RUBY, program: PROGRAM)
          names = profile(CPU) do
            began = spent
            until spent - began > 0.5
              eval("def gone = 200_000.times { |number| Math.sqrt(number) }; gone", nil, "/gone.rb")
              GC.start
            end
          end.first.map { |row| row[1] }
          p names.join(" ").include?("gone")
        RUBY
      end

      private

      def preloaded(script, program: "", **options) = super(program + script, **options)

      # The numbers that a program prints.
      def numbers(script) = preloaded(script, program: PROGRAM).split.map(&:to_f)
    end
  end
end
