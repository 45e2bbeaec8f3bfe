# frozen_string_literal: true

require "json"
require "test_helper"

# Coded bodies that grow beyond their limits, and what they cost until they do.
class HttpDecodeLimitsTest < Support::SharedServerTest
  MB = 1024 * 1024
  LIMIT = 32 * MB
  # A file that grew beyond the limit would get another status, 507.
  COMMAND = ["sh", "-c", "trap '' XFSZ; ulimit -f #{LIMIT / 512}; exec \"$@\"", "sh",
             *Support::ServerOptions::COMMAND].freeze
  # What the edge may grow by for one body, beside the windows that the streams ask for.
  GROWTH = 3 * MB
  WINDOWS = { "gzip" => 0, "deflate" => 0, "br" => 16 * MB, "zstd" => 8 * MB }.freeze
  ZEROS = "\0" * (LIMIT + 1)
  NAMES = Support::ContentCodings::NAMES

  serves Support::Probe::APP, command: COMMAND,
                              args: %W[--decode-requests --max-decoded-body #{LIMIT} --max-decode-ratio 1000000000]

  NAMES.each do |coding|
    define_method("test_a_#{coding}_body_may_become_as_large_as_the_limit_and_no_byte_larger") do
      assert_equal 200, post(server, coding, encode(ZEROS.byteslice(0, LIMIT), coding)).status
      assert_equal 413, post(server, coding, encode(ZEROS, coding)).status
      refute_includes log, "cannot spool"
    end

    define_method("test_a_#{coding}_bomb_costs_no_more_than_its_window") do
      bomb = encode(ZEROS, coding)
      post(server, coding, encode("warm", coding))
      statuses = []

      assert_operator growth { statuses << post(server, coding, bomb).status }, :<=, GROWTH + WINDOWS[coding]
      assert_operator growth { statuses << post(server, "#{coding}, gzip", encode(bomb, "gzip")).status },
                      :<=, GROWTH + WINDOWS[coding]
      assert_equal [413, 413], statuses
    end
  end

  def test_a_bomb_in_a_bomb_is_refused_while_nothing_comes_out_of_it
    empty = encode("", "gzip")
    members = encode(empty * ((LIMIT / empty.bytesize) + 1), "gzip")

    assert_operator growth { assert_equal 413, post(server, "gzip, gzip", members).status }, :<=, GROWTH
  end

  def test_the_default_ratio_is_for_bombs_only
    usual = serve(Support::Probe::APP, args: %w[--decode-requests])
    records = Array.new(100_000) { |n| %({"id":#{n},"state":"unchanged","comment":"none"}\n) }.join
    NAMES.each do |coding|
      assert_equal 200, post(usual, coding, encode(records, coding)).status
      assert_equal 413, post(usual, coding, encode(ZEROS, coding)).status
    end
  end

  def test_the_size_of_a_body_counts_as_it_is_sent
    strict = serve(Support::Probe::APP, args: %w[--decode-requests --max-body 10KB])

    assert_equal 200, post(strict, "gzip", encode("\0" * 100_000, "gzip")).status
    assert_equal 413, post(strict, "gzip", encode(Random.new(1).bytes(12_000), "gzip")).status
  end

  private

  def encode(...)
    Support::ContentCodings.encode(...)
  end

  def post(server, coding, body)
    server.request("POST", "/digest", fields: { "Content-Encoding" => coding }, body: body)
  end

  # By how many bytes the edge's memory was larger, at its highest during the block, than before.
  def growth
    File.write("/proc/#{server.pid}/clear_refs", "5") # From here on VmHWM begins anew: proc(5).
    before = resident("VmRSS")
    yield
    resident("VmHWM") - before
  end

  def resident(name)
    File.read("/proc/#{server.pid}/status")[/^#{name}:\s+(\d+) kB/, 1].to_i * 1024
  end
end
