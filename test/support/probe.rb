# frozen_string_literal: true

module Support
  # An application that reports what it received. Each request leaves a line in the log.
  #
  # /env responds with the environment's Strings as JSON, /echo with the body, /digest with its size and SHA-256,
  # /sleep?SECONDS after that time, /doze after it has logged twice, so that the edge stops prefetching, /large?BYTES
  # with that many bytes, and any other path with its name.
  module Probe
    APP = <<~'RUBY'
      require "digest"
      require "json"

      answers = {
        "/env" => ->(env) { JSON.generate(env.select { |_, value| value.is_a?(String) }) },
        "/echo" => ->(env) { env["rack.input"]&.read.to_s },
        "/digest" => lambda do |env|
          body = env["rack.input"]&.read.to_s
          "#{body.bytesize} #{Digest::SHA256.hexdigest(body)}"
        end,
        "/large" => ->(env) { "x" * env["QUERY_STRING"].to_i },
        "/sleep" => ->(env) { "slept" if sleep(env["QUERY_STRING"].to_f) },
        "/doze" => lambda do |env|
          2.times { env["rack.errors"].puts("app dozes") if sleep(0.1) }
          "dozed"
        end
      }

      run lambda { |env|
        path = env["PATH_INFO"]
        env["rack.errors"].puts("app saw #{env["REQUEST_METHOD"]} #{path}")
        answer = answers.fetch(path, ->(_) { path }).call(env)
        [200, { "content-type" => "application/octet-stream" }, [answer]]
      }
    RUBY

    # The line that a request leaves in the log.
    def self.line(verb, path)
      "app saw #{verb} #{path}\n"
    end
  end
end
