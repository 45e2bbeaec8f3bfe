# frozen_string_literal: true

require "test_helper"
require "support/chaos/faults"
require "support/chaos/member"

# Processes are killed and stopped, and some clients send nonsense, while others talk over Action Cable. No socket of
# these ends, all hear the same in the same order, and nothing runs twice. CARAT_TEST_SEED repeats a run.
class CableChaosTest < Support::IntegrationTest
  include Support::CableServer
  needs Support::CableApp.obstacle

  MEMBERS = 6
  THREADS = 2
  NUMBERS = { kill_worker: 8, kill_mold: 2, stop_worker: 2, stop_mold: 1, lose_worker: 1, stop_edge: 2,
              stop_everybody: 1, hup: 2, upgrade: 1 }.freeze
  # Of faults that end a worker, with all that it runs and has received in advance.
  DEADLY = 8 + 2 + 1
  # Frames that no client may send (RFC 6455, section 5): without a mask, of an unknown kind, continued from nothing,
  # and a long ping.
  NONSENSE = ["\x81\x02hi", "\x83\x80mask", "\x80\x80mask", "\x89\xFE\x00\x7Emask#{"x" * 126}"].map(&:b).freeze
  PROTOCOL_ERROR = 1002

  # How many messages there have been.
  Load = Struct.new(:speakers) { def size = speakers.sum { |member| member.sent.size } }

  def test_members_hear_the_same_whoever_is_killed
    args = ["--cable", "/cable", "--request-timeout", "3", "--refork", "300", *CONTROL_SOCKET]
    server = rails(workers: 3, threads: THREADS, config: "", args:)
    await_workers(server, 3)
    members = members_of(server)
    nonsense = Thread.new { NONSENSE.map { |frame| closed_for(server, frame) } }
    Support::Chaos::Faults.new(server, load: Load.new(members), random: @random).run(NUMBERS)
    [*members.each(&:finish)].each(&:join)

    assert_equal [PROTOCOL_ERROR], nonsense.value.uniq
    refute_includes server.log, "Could not execute command"
    assert_agree(members, server.directory.read("told").split)
  ensure
    members&.each(&:finish)
  end

  def setup
    super
    @seed = Integer(ENV.fetch("CARAT_TEST_SEED", Random.new_seed % 1_000_000))
    @random = Random.new(@seed)
  end

  private

  def report
    super
    warn "CARAT_TEST_SEED=#{@seed}"
  end

  # All have subscribed before the first of them says anything.
  def members_of(server)
    sockets = Array.new(MEMBERS) { |number| subscriber(server, "m#{number}") }
    sockets.map.with_index do |socket, number|
      Support::Chaos::Member.new(socket, "m#{number}", Random.new(@random.rand(1 << 32)), members: MEMBERS) do |text|
        JSON.generate("command" => "message", "identifier" => ROOM,
                      "data" => JSON.generate("action" => "tell", "text" => text))
      end
    end
  end

  # The code with which the server closes the WebSocket. A worker that stands still accepts none.
  def closed_for(server, frame)
    eventually(message: "a WebSocket") do
      client = socket(server, "nonsense")
      client.write(frame).close_code if client.accepted?
    ensure
      client&.close
    end
  end

  def assert_agree(members, told)
    heard, *others = members.map(&:heard)
    others.each { |other| assert_equal heard, other }
    assert_equal told.uniq, told
    assert_equal heard.uniq, heard
    assert_empty heard - told
    members.each { |member| assert_equal member.sent & heard, heard & member.sent }
    assert_operator members.sum { |member| (member.sent - heard).size }, :<=, DEADLY * THREADS * 2
  end
end
