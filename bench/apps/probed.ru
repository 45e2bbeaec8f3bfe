# frozen_string_literal: true

# hello.ru within the probe of `carat leak`, which takes a census at each request for PROBE.
require "carat/lab/leak/probe"

module Carat
  PROBED = Lab::Leak::Probe
  public_constant :PROBED
end

run Carat::PROBED.new(->(_env) { [200, { "content-type" => "text/plain" }, ["Hello, World!"]] }, ENV.fetch("BENCH_PROBE"))
