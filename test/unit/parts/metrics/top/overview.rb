# frozen_string_literal: true

module Carat
  # The response to GET /top of a server with two workers and two requests.
  module Overview
    MIB = 1024 * 1024
    WORKERS = [1, 2].map do |number|
      { "number" => number, "generation" => 1, "pid" => 40 + number, "state" => "serving", "age" => 60.0,
        "requests" => 100, "running" => number, "tunnels" => 0 }
    end
    REQUESTS = [[4.25, 1, "GET /reports"], [0.0213, 2, "POST /a"]].map.with_index do |(age, worker, request), id|
      { "worker" => worker, "lane" => 0, "id" => id, "request" => request, "stage" => "runs", "age" => age }
    end
    RECENT = { "seconds" => 60.0, "requests" => 600, "errors" => 30, "p50" => 0.0123, "p99" => 1.25, "queue_p50" => 0.0,
               "queue_p99" => nil }.freeze
    ALL = {
      "version" => "0.1.0", "pid" => 40, "state" => "serving", "uptime" => 300.0, "running" => 3, "waiting" => 1,
      "queue_limit" => 1024, "connections" => 7, "workers" => { "wanted" => 2 }, "restart" => nil, "upgrade" => nil,
      "processes" => WORKERS, "app_processes" => [], "molds" => [39], "requests" => REQUESTS, "omitted" => 0,
      "metrics" => { "recent" => RECENT },
      "memory" => [[40, 9], [39, 2], [41, 5], [42, 8]].map do |pid, size|
        { "pid" => pid, "pss" => (size + 4) * MIB, "private" => size * MIB, "shared" => 15 * MIB }
      end
    }.freeze
  end
end
