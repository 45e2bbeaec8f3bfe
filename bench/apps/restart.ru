# frozen_string_literal: true

require "digest"

# The code is a file that says which version it is; one that says "broken" cannot be loaded. The response to an upload
# is its SHA-256.
version = File.read(ENV.fetch("RESTART_VERSION"))
raise "broken" if version == "broken"

run(lambda do |env|
  sleep 0.1 if env["PATH_INFO"] == "/slow"
  body = env["REQUEST_METHOD"] == "POST" ? Digest::SHA256.hexdigest(env["rack.input"].read) : version
  [200, { "content-type" => "text/plain" }, [body]]
end)
