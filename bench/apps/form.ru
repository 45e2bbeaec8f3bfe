# frozen_string_literal: true

require_relative "../../examples/upload/raw_upload"
require_relative "../../examples/upload/upload_page"

# Measures the CPU time of the digest of an upload, apart from the rest of the request.
module MeteredChecksum
  def initialize(stream)
    begun = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    super
    Thread.current[:digest_cpu] = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - begun
  end
end
Checksum.prepend(MeteredChecksum)

# Sends it in a response header.
class DigestCpu
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    [status, headers.merge("x-digest-cpu" => Thread.current[:digest_cpu].to_s), body]
  end
end

map("/ping") { run ->(_env) { [200, { "content-type" => "text/plain" }, ["pong"]] } }

map("/") do
  use DigestCpu
  use RawUpload
  run UploadPage
end
