# frozen_string_literal: true

# hello.ru within the probe of `carat leak`, which takes a census at each request for PROBE.
require_relative "../../lab/lib/carat/lab/leak/in_worker/probe"

module Carat
  PROBED = Lab::Leak::Probe
  public_constant :PROBED
end

hello = ->(_env) { [200, { "content-type" => "text/plain" }, ["Hello, World!"]] }
run Carat::PROBED.new(hello, ENV.fetch("BENCH_PROBE"))
