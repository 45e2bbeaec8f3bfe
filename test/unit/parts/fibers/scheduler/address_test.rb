# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "socket"
require "timeout"

module Scheduler
  # Several fibers that look up the same name.
  class AddressTest < Support::SchedulerTest
    FOUND = [Addrinfo.ip("127.0.0.1")].freeze

    def setup
      @gate = Thread::Queue.new
      @lookups = 0
    end

    def test_those_who_ask_for_a_name_at_the_same_time_share_one_look_up
      answers = []
      behind_gate do
        3.times { go { answers << resolve("name.example") } }
        @gate << true
      end
      assert_equal [[["127.0.0.1"]] * 3, 1], [answers, @lookups]
    end

    def test_who_asks_later_looks_up_anew
      behind_gate do
        2.times { @gate << true && resolve("name.example") }
      end
      assert_equal 2, @lookups
    end

    def test_different_names_are_looked_up_beside_one_another
      answers = []
      behind_gate do
        %w[one.example two.example].each { |name| go { answers << resolve(name) } }
        give_way_until { @lookups == 2 }
        2.times { @gate << true }
      end
      assert_equal [["127.0.0.1"]] * 2, answers
    end

    def test_when_the_one_who_began_gives_up_the_next_one_goes_on
      answer = behind_gate do
        impatient = go { assert_raises(KeyError) { resolve("name.example") } }
        go do
          give_way_until { @lookups == 1 }
          impatient.raise(KeyError)
          2.times { @gate << true }
        end
        resolve("name.example")
      end
      assert_equal [["127.0.0.1"], 2], [answer, @lookups]
    end

    def test_a_lookup_keeps_its_slot_until_it_ends_even_if_nobody_waits_for_it
      limit = Carat::Scheduler.const_get(:AddressBook)::THREADS_LIMIT
      behind_gate do
        (limit * 2).times { |number| give_up("name#{number}.example") }
        assert_equal limit, @lookups
        limit.times { @gate << true }
        go { resolve("last.example") }
        give_way_until { @lookups > limit }
        @gate << true
      end
      assert_equal limit + 1, @lookups
    end

    def test_a_forked_process_looks_up_by_itself
      status = behind_gate do
        go { resolve("name.example") }
        pid = fork_with_scheduler { exit!(@gate.push(true) && resolve("name.example") ? 0 : 1) }
        @gate << true
        Process.wait2(pid).last
      end
      assert_predicate status, :success?
    end

    private

    def behind_gate(&block)
      look_up = lambda do |*|
        @lookups += 1
        @gate.pop && FOUND
      end
      Addrinfo.stub(:getaddrinfo, look_up) { fibers(&block) }
    end

    # Interrupts a lookup that waits for its result or for a slot.
    def give_up(name)
      count = @lookups
      fiber = go { assert_raises(KeyError) { resolve(name) } }
      give_way_until { @lookups > count } if count < Carat::Scheduler.const_get(:AddressBook)::THREADS_LIMIT
      fiber.raise(KeyError)
    end

    def resolve(name)
      Fiber.scheduler.address_resolve(name)
    end
  end

  # The same under GC.stress.
  class AddressStressTest < AddressTest
    include Stress

    # It takes many fibers and threads.
    undef_method :test_a_lookup_keeps_its_slot_until_it_ends_even_if_nobody_waits_for_it
  end
end
