-- One line for wrk.rb; times are in microseconds.
done = function(summary, latency, _)
  local e = summary.errors
  io.write(string.format("requests=%d bytes=%.0f duration=%d p50=%d p99=%d errors=%d\n",
    summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
