# frozen_string_literal: true

# A large heap, 2.4 million objects by default, and requests that build 1500 small hashes and replace some of 20 000
# cached strings: BENCH_STRINGS of them.
ITEMS = Integer(ENV.fetch("BENCH_ITEMS", "400000"), 10)
HELD = Array.new(ITEMS) { |n| { id: n, name: "item #{n}", tags: ["a", "b", n.to_s] } }
CACHE = {}
STRINGS = Integer(ENV.fetch("BENCH_STRINGS", "300"), 10)

run(lambda do |_env|
  STRINGS.times { |n| CACHE[rand(20_000)] = "value #{n} #{rand}" * 3 }
  rows = Array.new(1500) { |n| { n: n, s: "row #{n}" } }
  [200, { "content-type" => "text/plain" }, [rows.map { |row| row[:s] }.join(",")]]
end)
