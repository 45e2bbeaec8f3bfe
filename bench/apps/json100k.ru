# frozen_string_literal: true

require "json"

# About 100 KB of JSON as an API returns it, the same in every run.
RANDOM = Random.new(7)
WORDS = %w[alder birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew].freeze
RECORDS = Array.new(560) do |id|
  { id: id, token: RANDOM.bytes(8).unpack1("H*"), name: Array.new(3) { WORDS.sample(random: RANDOM) }.join(" "),
    price: RANDOM.rand(1.0..999.0).round(2), stock: RANDOM.rand(0..400), active: RANDOM.rand(2).zero?,
    updated_at: Time.at(1_700_000_000 + RANDOM.rand(10_000_000)).utc.strftime("%FT%TZ"),
    tags: WORDS.sample(4, random: RANDOM) }
end
BODY = JSON.generate(RECORDS).freeze

use Rack::Deflater if ENV["BENCH_DEFLATER"]
run ->(_env) { [200, { "content-type" => "application/json", "content-length" => BODY.bytesize.to_s }, [BODY]] }
