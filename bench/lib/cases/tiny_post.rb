# frozen_string_literal: true

module Bench
  # Chunked POSTs of two bytes beside GETs to the same application.
  module TinyPost
    COUNTED = 200
    BODY = "a body."

    # Files are counted after the load, because a traced process is slow.
    def self.call(spec, options)
      Server.run(spec, File.join(APPS, "tiny.ru")) do |server|
        get = Wrk.new(server, options).warm_up.run
        post = Wrk.new(server, options, script: "tiny_post.lua").run
        files = FileCreations.count(server.pids) { post_some(spec, server) }
        { get_rate: get.rate, post_rate: post.rate, ratio: post.rate / get.rate, files: files,
          errors: get.errors + post.errors }
      end
    end

    def self.post_some(spec, server)
      client = HttpClient.new(server.port)
      COUNTED.times do
        client.request("/", { "Transfer-Encoding" => "chunked" }, verb: "POST")
        client.socket.write("2\r\nok\r\n0\r\n\r\n")
        response = client.response
        raise Failure, "#{spec.name}: #{response.status}, #{response.body.inspect}" unless response.body == BODY
      end
    ensure
      client&.close
    end

    CASES = [
      Case.new(
        name: "tinypost", title: "Chunked POSTs of two bytes", servers: %w[carat puma], busy: true,
        measure: method(:call),
        columns: [
          Column.new("GET/s", :get_rate), Column.new("POST/s", :post_rate),
          Column.new("POST/GET", :ratio, places: 2, target: Target.at_least(0.8)),
          Column.new("files made for 200 POSTs", :files, over: :max, target: Target.at_most(0)),
          Column.new("errors", :errors, over: :sum)
        ]
      )
    ].freeze
  end
end
