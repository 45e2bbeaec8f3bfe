# frozen_string_literal: true

require "digest/sha2"
require "rack"

# Every way in which a body arrives and a response leaves. A response names the SHA-256 of its body, unless the edge
# serves it from SOAK_FILE.
PIECE_BYTES = 64 * 1024
HELLO = "Hello, World!"
TEXT = Array.new(2000) { |number| "{\"number\":#{number},\"name\":\"an article\"}\n" }.join
LARGE = TEXT.byteslice(0, 50_000) * 20
PIECES = 16

# A body that the application produces piece by piece.
class Pieces
  def each
    PIECES.times { |number| yield TEXT.byteslice(number * 4096, 4096) }
  end
end

# A body that the edge reads from its file.
class OpenFile
  def to_path = ENV.fetch("SOAK_FILE")

  def each
    yield File.binread(to_path)
  end
end

sha256 = lambda do |input|
  digest = Digest::SHA256.new
  buffer = String.new(capacity: PIECE_BYTES)
  digest << buffer while input.read(PIECE_BYTES, buffer)
  buffer.clear
  digest.hexdigest
end
respond = lambda do |type, body, content = body|
  headers = { "content-type" => type, "x-sha256" => Digest::SHA256.hexdigest(content) }
  [200, headers, body.respond_to?(:each) ? body : [body]]
end

map("/digest") { run ->(env) { respond.call("text/plain", sha256.call(env["rack.input"])) } }
map("/form") do
  run(lambda do |env|
    file = Rack::Request.new(env).params.fetch("file").fetch(:tempfile)
    respond.call("text/plain", sha256.call(file))
  end)
end
map("/text") { run ->(_env) { respond.call("application/json", TEXT) } }
map("/large") { run ->(_env) { respond.call("application/octet-stream", LARGE) } }
map("/stream") { run ->(_env) { respond.call("text/plain", Pieces.new, TEXT.byteslice(0, PIECES * 4096)) } }
map("/file") { run ->(_env) { [200, { "content-type" => "application/octet-stream" }, OpenFile.new] } }
map("/wait") do
  run(lambda do |_env|
    sleep(rand(0.02..0.05))
    respond.call("text/plain", Array.new(2000) { |number| "garbage #{number}" }.last)
  end)
end
run ->(_env) { respond.call("text/plain", HELLO) }
