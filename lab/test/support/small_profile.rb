# frozen_string_literal: true

require "carat/native_path"

module Support
  # Reports of profiles that a worker may have sent.
  module SmallProfile
    LANE = File.join(Carat::NativePath::ROOT, "lib/carat/request/lane.rb")
    SERVER = ["ruby", "Carat::Request::Lane#run", LANE, 9].freeze
    INDEX = ["ruby", "Posts#index", "/srv/posts.rb", 12].freeze
    SLEEP = ["ruby", "Kernel#sleep", "<cfunc>", 0].freeze
    STRING = ["object", "String", nil, nil].freeze

    private

    # 300 us of CPU and 400 us in `Posts#index`, and 70 ms in `sleep`.
    def time_report(**details)
      profile = { "clocks" => %w[cpu wall], "functions" => [SERVER, INDEX, SLEEP], "callers" => [nil, 0, 1],
                  "calls" => [0, 1, 2], "cpu" => [0, 300, 0], "wall" => [0, 400, 70_000], "gvl" => [0, 0, 0],
                  "samples" => { "cpu" => 1, "wall" => 7 }, "interval" => 10_000, "seconds" => 1.0, "requests" => 3 }
      reply = { "pid" => 1, "profile" => { **profile, **details.transform_keys(&:to_s) } }
      Carat.const_get(:Lab)::Profile::TimeReport.new(reply, { worker: 1 })
    end

    # A String of 40 bytes.
    def memory_report
      profile = { "functions" => [SERVER, STRING], "callers" => [nil, 0], "calls" => [0, 1], "bytes" => [0, 40],
                  "objects" => [0, 1], "live_bytes" => [0, 40], "live_objects" => [0, 1] }
      Carat.const_get(:Lab)::Profile::Report.new({ "pid" => 1, "profile" => profile }, { worker: 1 })
    end
  end
end
