# frozen_string_literal: true

require "test_helper"
require "support/form_test"
require "support/random_head"

# Whatever the head of a part says, Rack sees the same with and without the edge's help: where it is taken for a file
# at the edge, Rack asks for that file.
class FormHeadsTest < Support::FormTest
  serves Support::FormReport::APP, args: %w[--multipart edge]

  ROUNDS = Integer(ENV.fetch("CARAT_TEST_HEADS", 400))

  def test_random_heads_make_the_same_params
    seed = Integer(ENV.fetch("CARAT_TEST_SEED", Random.new_seed % 1_000_000))
    heads = Support::RandomHead.new(seed)
    taken = Array.new(ROUNDS) do
      odd = heads.next
      assert_same(form(file("f"), [odd, CONTENT], file("g")), message: "seed #{seed}: #{odd.dump}")
    end

    assert_empty [1, 2, 3] - taken, "seed #{seed} has heads of every kind"
  end
end
