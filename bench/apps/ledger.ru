# frozen_string_literal: true

# GET and POST /N write N to the ledger after 20 ms. Each worker keeps as many bytes of its own as KEEP says.
kept = nil

run(lambda do |env|
  path = env["PATH_INFO"].delete_prefix("/")
  unless path == "up"
    kept ||= Random.bytes(Integer(ENV.fetch("KEEP", "0")))
    sleep 0.02
    File.write("/ledger/served", "#{path}\n", mode: "a")
  end
  [200, {}, [path]]
end)
