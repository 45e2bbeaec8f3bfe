# frozen_string_literal: true

require "test_helper"

# Whatever a form looks like, Rack makes the same of it with and without the edge's help: where the edge takes a file
# out, Rack asks for that file. CARAT_TEST_SEED repeats a run, CARAT_TEST_ROUNDS makes it longer.
class FormRandomTest < Support::FormTest
  serves Support::FormReport::APP, args: %w[--multipart edge --max-part-header 1MB]

  ROUNDS = Integer(ENV.fetch("CARAT_TEST_ROUNDS", 200))
  BITS = ["\r", "\n", "\r\n", "-", "\r\n--", "\r\n--AaB03", "\r\n--AaB03x", "\r\n\r\n", "text", "\xFF".b].freeze
  ENDS = ["--AaB03x--\r\n", "--AaB03x--", "--AaB03x-- \r\n", "--AaB03x--epilogue", "--AaB03x\r\n", "",
          "--AaB03x"].freeze

  def test_random_forms_make_the_same_params_or_the_same_error
    seed, random, heads = seeded
    taken = Array.new(ROUNDS) do
      parts = Array.new(random.rand(1..5)) do |number|
        [random.rand(6).zero? ? heads.next : file("f#{number}").first, content(random)]
      end
      body = form(*parts, last: ENDS[random.rand(20)] || ENDS.first)
      assert_same(random.rand(10).zero? ? body.byteslice(0, random.rand(body.bytesize)) : body, message: "seed #{seed}")
    end

    assert_empty [0, 1, 2] - taken, "seed #{seed} has forms of every kind"
  end

  def test_random_heads_make_the_same_params
    seed, _, heads = seeded
    taken = Array.new(ROUNDS) do
      odd = heads.next
      body = form(file("f"), [odd, "#{CONTENT}2"], file("g", "3", "#{CONTENT}3"))
      assert_same(body, message: "seed #{seed}: #{odd.dump}")
    end

    assert_empty [1, 2, 3] - taken, "seed #{seed} has heads of every kind"
  end

  private

  def seeded
    seed = Integer(ENV.fetch("CARAT_TEST_SEED", Random.new_seed % 1_000_000))
    [seed, Random.new(seed), Support::RandomHead.new(seed)]
  end

  # It may hold a delimiter.
  def content(random)
    large = random.bytes(1) * (random.rand(2) * 10_000)
    Array.new(random.rand(4)) { BITS[random.rand(BITS.size)].b }.insert(random.rand(2), large).join
  end
end
