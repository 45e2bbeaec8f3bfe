# frozen_string_literal: true

run(lambda do |env|
  [200, { "content-type" => "text/plain" }, [env["rack.input"]&.read.to_s.empty? ? "nothing" : "a body."]]
end)
