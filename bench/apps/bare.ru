# frozen_string_literal: true

# Keeps nothing. GET /garbage creates the garbage of examples/weight; with ?gc=100 every hundredth request runs a full
# collection.
require_relative "worker_field"

ROWS = 500
SERVED = Hash.new(0)

def garbage
  rows = Array.new(ROWS) { |n| { id: n, name: "row #{n}", tags: ["a#{n}", "b#{n}"], note: "x" * 60 } }
  rows.sum { |row| row.to_a.join(",").bytesize }
end

def collect(interval)
  served = SERVED[Process.pid] += 1
  GC.start if interval.positive? && (served % interval).zero?
end

use WorkerField

run(lambda do |env|
  bytes = env["PATH_INFO"] == "/garbage" ? garbage : 0
  collect(env["QUERY_STRING"][/gc=(\d+)/, 1].to_i)
  [200, { "content-type" => "text/plain" }, ["#{bytes}\n"]]
end)
