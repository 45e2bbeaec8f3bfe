# frozen_string_literal: true

require "test_helper"
require "support/differential/apache"
require "support/differential/by_case"
require "support/differential/connections"
require "support/differential/desync_shapes"
require "support/differential/haproxy"
require "support/differential/lighttpd"
require "support/differential/nginx"
require "support/differential/outcome"
require "support/differential/random_messages"
require "support/differential/recorder"

# The same bytes go to Carat and to a proxy in front of it: the known desync shapes, and generated requests. What the
# proxy takes for one request is one for Carat, and as far as both read on they find the same requests.
class DifferentialFrontTest < Support::SharedServerTest
  include Support::Differential

  GENERATED = 1000
  # Other requests with CARAT_TEST_SEED.
  SEED = Integer(ENV.fetch("CARAT_TEST_SEED", 1))
  # The letter of the cases that Carat gets from the client.
  ALONE = "c"
  WITHIN = 60
  SHOWN = 5

  serves Recorder::APP, workers: 2, threads: 4, args: %w[--header-timeout 2 --idle-timeout 2 --backlog 1024]

  def self.cases
    @cases ||= DesyncShapes.cases.then do |shapes|
      random = RandomMessages.new(SEED, shapes.size)
      shapes + Array.new(GENERATED) { random.next }
    end
  end

  # What came of each case without a proxy. It takes as long as a body may lag behind.
  def self.alone
    @alone ||= outcomes(server.port, ALONE)
  end

  # Sends all cases to the port; the block runs before the requests that reached the application are read.
  def self.outcomes(port, letter)
    received = Connections.new(port, letter).run(cases, within: WITHIN)
    yield if block_given?
    requests = ByCase.new(Recorder.requests(server.directory), letter)
    raise "requests that nobody has sent: #{requests.others}" if requests.others.any?

    cases.map { |test_case| Outcome.new(requests[test_case.number], received.fetch(test_case.number)) }
  end

  def test_carat_serves_what_is_well_formed
    well_formed = cases.select(&:well_formed?)
    assert_operator well_formed.size, :>, GENERATED / 10
    assert_none { |test_case| "not served" if test_case.well_formed? && !alone[test_case.number].complete? }
  end

  def test_nginx_and_carat_find_the_same_requests
    assert_same_requests Nginx, "n"
  end

  def test_haproxy_and_carat_find_the_same_requests
    assert_same_requests HAProxy, "h"
  end

  def test_apache_and_carat_find_the_same_requests
    assert_same_requests Apache, "a"
  end

  def test_lighttpd_and_carat_find_the_same_requests
    assert_same_requests Lighttpd, "l"
  end

  private

  def cases
    self.class.cases
  end

  def alone
    self.class.alone
  end

  def assert_same_requests(kind, letter)
    skip kind.obstacle if kind.obstacle
    front = kind.new(server.port).start
    behind = self.class.outcomes(front.port, letter) { front.stop }
    assert_forwarded behind, ByCase.new(answered(front), letter)
    assert_none { |test_case| difference(alone[test_case.number], behind[test_case.number]) }
    assert_something_served behind
  ensure
    front&.destroy
  end

  # What the front has logged with the status that only the application sends.
  def answered(front)
    front.requests.filter_map { |status, *request| request if status == Recorder::STATUS }
  end

  # Every request that reached the application is one to the front, too.
  def assert_forwarded(behind, logged)
    assert_none do |test_case|
      reached = behind[test_case.number].requests.map { |verb, path, _digest| [verb, path] }
      expected = logged[test_case.number]
      "the front logged #{expected}, and #{reached} reached Carat" if expected != reached
    end
  end

  def difference(alone, behind)
    why = alone.difference(behind)
    "#{why}\n  alone: #{alone}\n  behind the front: #{behind}" if why
  end

  # A front refuses some requests that are well-formed: lighttpd a GET with a body, Apache what follows a body that it
  # has asked for and not read.
  def assert_something_served(behind)
    well_formed = cases.select(&:well_formed?)
    served = well_formed.count { |test_case| behind[test_case.number].complete? }
    assert_operator served, :>, well_formed.size / 2
  end

  # The block has nothing to say about any case.
  def assert_none
    found = cases.filter_map do |test_case|
      why = yield(test_case)
      "#{test_case}: #{why}" if why
    end
    assert_equal 0, found.size, "seed #{SEED}, #{found.size} of #{cases.size} cases:\n#{found.first(SHOWN).join("\n")}"
  end
end
