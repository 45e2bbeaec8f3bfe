# frozen_string_literal: true

# GET /leak keeps 100 KB forever.
require_relative "worker_field"

BYTES = 100_000
KEPT = []

use WorkerField

run(lambda do |env|
  KEPT << ("x" * BYTES) if env["PATH_INFO"] == "/leak"
  [200, { "content-type" => "text/plain" }, ["#{KEPT.size}\n"]]
end)
