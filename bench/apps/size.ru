# frozen_string_literal: true

# Responds with the size of the body without reading it.
run ->(env) { [200, { "content-type" => "text/plain" }, [(env["rack.input"]&.size || 0).to_s]] }
