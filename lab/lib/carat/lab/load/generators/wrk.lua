-- Prints what carat/lab/load/generators/wrk.rb reads, in one line; times are in microseconds.
done = function(summary, latency, _)
  local e = summary.errors
  io.write(string.format(
    "\ncarat requests=%d duration=%d connect=%d read=%d write=%d timeout=%d status=%d" ..
    " p50=%d p75=%d p90=%d p99=%d p99.9=%d max=%d\n",
    summary.requests, summary.duration, e.connect, e.read, e.write, e.timeout, e.status,
    latency:percentile(50), latency:percentile(75), latency:percentile(90), latency:percentile(99),
    latency:percentile(99.9), latency.max))
end
