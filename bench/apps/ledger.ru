# frozen_string_literal: true

# GET and POST /N write N to the ledger after 20 ms (PAGE_SECONDS), and get the SHA-256 of the request's body. Each
# worker keeps as many bytes of its own as KEEP says. GET /events is a stream: a number each 0.2 s, which is the time,
# from the one after Last-Event-ID on. GET /hang never responds, and GET /eat takes 4 GB. With BROKEN=boot, the
# application does not load; with BROKEN=up, /up gets 503.
require "digest/sha2"

abort("broken") if ENV["BROKEN"] == "boot"

# The body of a stream of events.
Ticks = Struct.new(:last) do
  def each
    loop do
      now = (Time.now.to_f * 5).floor
      self.last ||= now - 1
      (last + 1..now).each { |number| yield "id: #{number}\n\n" }
      self.last = now
      sleep 0.2
    end
  end
end

kept = nil
write = lambda do |env, path|
  kept ||= Random.bytes(Integer(ENV.fetch("KEEP", "0")))
  body = env["rack.input"]&.read.to_s
  sleep Float(ENV.fetch("PAGE_SECONDS", "0.02"))
  File.write("/ledger/served", "#{path}\n", mode: "a")
  [200, {}, [Digest::SHA256.hexdigest(body)]]
end

run(lambda do |env|
  case path = env["PATH_INFO"].delete_prefix("/")
  when "up" then [ENV["BROKEN"] == "up" ? 503 : 200, {}, []]
  when "events"
    [200, { "content-type" => "text/event-stream" }, Ticks.new(env["HTTP_LAST_EVENT_ID"]&.to_i)]
  when "hang" then sleep
  when "eat" then [200, {}, [("x" * 4_000_000_000).bytesize.to_s]]
  else write.call(env, path)
  end
end)
