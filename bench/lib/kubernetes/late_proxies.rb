# frozen_string_literal: true

require "net/http"

module Bench
  # Two proxies that learn late which pods of an app serve, as seen by clients: each names a pod for a request.
  module LateProxies
    # How often a proxy looks.
    SECONDS = 5

    # One that reads which pods a Service may name, as an Ingress, or another node's kube-proxy when it is behind.
    class Listing
      def initialize(app)
        @app = app
        renew
      end

      def renew
        @urls = @app.pods.select { |pod| @app.serving?(pod) }.map { |pod| @app.address(pod) }
      end

      def call = @urls.sample
      def to_s = "a proxy with a list that is up to #{SECONDS} s old"
    end

    # One that asks /up itself, and leaves a pod after so many failures, as a load balancer outside of the cluster. A
    # pod that has gone is a failure like others.
    class Probing
      FAILURES = 2
      TIMEOUT_SECONDS = 2
      private_constant :FAILURES, :TIMEOUT_SECONDS

      # The block tells whether /up of a URL gets 200.
      def initialize(app, &up)
        @app = app
        @up = up || method(:up?)
        @failures = {}
        renew
      end

      def renew
        urls = @failures.keys | @app.pods.filter_map { |pod| @app.address(pod) }
        @failures = urls.to_h { |url| [url, @up.call(url) ? 0 : @failures.fetch(url, FAILURES) + 1] }
                        .select { |_, count| count < FAILURES }
      end

      def call = @failures.keys.sample
      def to_s = "a proxy that asks /up each #{SECONDS} s, and leaves after #{FAILURES} failures"

      private

      def up?(url)
        uri = URI(url)
        Net::HTTP.start(uri.host, uri.port, open_timeout: TIMEOUT_SECONDS, read_timeout: TIMEOUT_SECONDS) do |http|
          http.get("/up").code == "200"
        end
      rescue SystemCallError, Timeout::Error, EOFError
        false
      end
    end
  end
end
