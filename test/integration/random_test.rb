# frozen_string_literal: true

require "json"
require "test_helper"

# Workers of one mold, and of one that has used its generators already, draw different numbers.
class RandomTest < Support::IntegrationTest
  DRAWS = %w[Kernel.rand Random.rand Random.new_seed Random.seed Random.bytes(8) Random.new.rand [*1..1000].shuffle
             [*1..100000].sample SecureRandom.hex SecureRandom.uuid SecureRandom.random_number Random.urandom(8)
             SecureRandom.alphanumeric(20) OpenSSL::Random.random_bytes(8)].freeze
  APP = <<~RUBY
    require "openssl"
    require "securerandom"
    srand(42) if ENV["SEED"]
    draw = ->(_ = nil) { {"pid" => Process.pid, #{DRAWS.map { |code| "#{code.dump} => (#{code}).inspect" }.join(", ")}} }
    draw.call
    require "json"
    meet = lambda do
      File.write("asked-\#{Process.pid}", "")
      sleep 0.005 until Dir["asked-*"].size == 2
    end
    run ->(_env) { meet.call; [200, {}, [JSON.generate(draw.call)]] }
  RUBY

  def test_two_workers_draw_different_numbers
    assert_all_differ(serve(APP, workers: 2, threads: 1))
  end

  def test_so_they_do_when_the_application_has_seeded_its_generator
    assert_all_differ(serve(APP, workers: 2, threads: 1, env: { "SEED" => "1" }))
  end

  private

  def assert_all_differ(server)
    await_workers(server, 2)
    first, second = of_each_worker(server)
    DRAWS.each { |code| refute_equal first[code], second[code], code }
  end

  # What two workers answer to their first requests, which are under way at the same time.
  def of_each_worker(server)
    clients = Array.new(2) { ask(server, "GET", "/") }
    answers = clients.map { |client| JSON.parse(client.read_response.body) }
    assert_equal 2, answers.map { |answer| answer["pid"] }.uniq.size
    answers
  end
end
