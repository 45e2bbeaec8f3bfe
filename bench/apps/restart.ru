# frozen_string_literal: true

# The code is a file that says which version it is; one that says "broken" cannot be loaded.
version = File.read(ENV.fetch("RESTART_VERSION"))
raise "broken" if version == "broken"

run(lambda do |env|
  sleep 0.1 if env["PATH_INFO"] == "/slow"
  [200, { "content-type" => "text/plain" }, [version]]
end)
