# frozen_string_literal: true

module Bench
  # Hello world over HTTP/2 beside HTTP/1.1, in clear and over TLS, with as many requests at once.
  module Http2Load
    AT_ONCE = 32
    STREAMS = ["-c", "1", "-m", AT_ONCE.to_s].freeze
    CONNECTIONS = ["--h1", "-c", AT_ONCE.to_s].freeze

    def self.call(spec, options)
      obstacle = H2load.obstacle
      raise Failure, obstacle if obstacle

      TlsAddress.run(spec, File.join(APPS, "hello.ru")) do |server, port|
        measure({ clear: "http://127.0.0.1:#{server.port}/", tls: "https://127.0.0.1:#{port}/" }, options)
      end
    end

    def self.measure(urls, options)
      figures = urls.flat_map do |name, url|
        { "h1_#{name}": CONNECTIONS, "h2_#{name}": STREAMS }.map do |figure, arguments|
          [figure, H2load.new(url, options, *arguments).run]
        end
      end
      rates = figures.to_h { |name, report| [name, report.rate] }
      { **rates, clear_ratio: rates[:h2_clear] / rates[:h1_clear], tls_ratio: rates[:h2_tls] / rates[:h1_tls],
                 errors: figures.sum { |_, report| report.errors } }
    end

    private_class_method :measure

    CASES = [
      Case.new(
        name: "http2", title: "Hello world over HTTP/2, 32 requests at once", servers: %w[carat], busy: true,
        measure: method(:call),
        columns: [
          Column.new("HTTP/1.1 req/s", :h1_clear), Column.new("h2c req/s", :h2_clear),
          Column.new("x HTTP/1.1", :clear_ratio, places: 2, target: Target.at_least(1)),
          Column.new("HTTPS/1.1 req/s", :h1_tls), Column.new("h2 req/s", :h2_tls),
          Column.new("x HTTPS/1.1", :tls_ratio, places: 2, target: Target.at_least(1)),
          Column.new("errors", :errors, over: :sum)
        ]
      )
    ].freeze
  end
end
