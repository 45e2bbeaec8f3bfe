# frozen_string_literal: true

# Answers how many bytes a body has without reading it.
run ->(env) { [200, { "content-type" => "text/plain" }, [env["rack.input"].size.to_s]] }
