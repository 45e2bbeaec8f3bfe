# frozen_string_literal: true

# The Rails application of rails_weight.ru with a large heap: objects that stay, 1.5 million by default, and a cache of
# which each request replaces some entries. BENCH_WAITED names a file that gets a line for each request into which a
# full garbage collection has fallen.
ITEMS = Integer(ENV.fetch("BENCH_ITEMS", "250000"), 10)
HELD = Array.new(ITEMS) { |n| { id: n, name: "item #{n}", tags: ["a", n.to_s] } }

class Cache
  ENTRIES = 20_000
  REPLACED = 20

  def initialize(app)
    @app = app
    @entries = {}
    @waited = ENV.fetch("BENCH_WAITED", File::NULL)
  end

  def call(env)
    full = GC.stat(:major_gc_count)
    REPLACED.times { @entries[rand(ENTRIES)] = "entry #{rand}" * 3 }
    @app.call(env)
  ensure
    File.write(@waited, "#{Process.pid}\n", mode: "a") if GC.stat(:major_gc_count) != full
  end
end

# GET /events is a stream of events that nothing ends.
EVENTS = lambda do |_env|
  [200, { "content-type" => "text/event-stream" }, lambda do |stream|
    stream.write(": begun\n\n")
    loop do
      sleep(1)
      stream.write("data: tick\n\n")
    end
  ensure
    stream.close
  end]
end

use Cache
map("/events") { run EVENTS }
path = File.join(__dir__, "rails_weight.ru")
eval(File.read(path), binding, path) # rubocop:disable Security/Eval -- a rackup file of our own
