# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"
require "support/differential/haproxy"
require "support/differential/nginx"

# nginx and HAProxy from Debian tell Carat who their client is, in each way that they know.
class ForwardingFrontsTest < Support::IntegrationTest
  APP = <<~'RUBY'
    require "json"
    run ->(env) { [200, {}, [JSON.generate(env.select { |_, value| value.is_a?(String) })]] }
  RUBY
  # The client's address, which is not that of the front.
  CLIENT = "127.0.0.9"
  LIES = { "X-Forwarded-For" => "6.6.6.6", "Forwarded" => "for=6.6.6.6;proto=https" }.freeze
  FIELDS = %w[REMOTE_ADDR rack.url_scheme SERVER_NAME SERVER_PORT].freeze

  # nginx as its documentation puts it in front of an application.
  class ListingNginx < Support::Differential::Nginx
    private

    def configuration
      super.sub("proxy_set_header Host", <<~TEXT.chomp)
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $http_host;
        proxy_set_header Host
      TEXT
    end
  end

  # HAProxy that extends X-Forwarded-For.
  class ListingHAProxy < Support::Differential::HAProxy
    private

    def configuration
      added = ["option forwardfor", "http-request set-header X-Forwarded-Proto https", "default_backend"]
      super.sub("default_backend", added.join("\n  "))
    end
  end

  # HAProxy that sends a PROXY header of version 1, and so a connection for each client.
  class ProxyingHAProxy < Support::Differential::HAProxy
    SENDS = "send-proxy"

    private

    def configuration
      alone = super.sub("http-reuse always", "http-reuse never")
      alone.sub("server carat 127.0.0.1:#{@carat}", "\\0 #{self.class::SENDS}")
    end
  end

  # HAProxy that sends one of version 2.
  class BinaryHAProxy < ProxyingHAProxy
    SENDS = "send-proxy-v2"
  end

  # HAProxy that checks Carat's health with LOCAL headers.
  class CheckingHAProxy < ProxyingHAProxy
    SENDS = "send-proxy-v2 check check-send-proxy inter 100ms"
  end

  def test_nginx_names_its_client_by_lists
    assert_equal [CLIENT, "http", "example.org", "80"], behind(ListingNginx, args: %w[--trusted-proxies 127.0.0.1])
  end

  def test_haproxy_names_its_client_by_lists
    assert_equal [CLIENT, "https", "example.org", "443"], behind(ListingHAProxy, args: %w[--trusted-proxies 127.0.0.1])
  end

  def test_haproxy_names_its_client_by_the_proxy_protocol
    [ProxyingHAProxy, BinaryHAProxy, CheckingHAProxy].each do |kind|
      assert_equal [CLIENT, "http", "example.org", "80"], behind(kind, binds: ["tcp://127.0.0.1:0?proxy_protocol=true"])
    end
  end

  private

  # What the application sees of a request through the front.
  def behind(kind, **options)
    skip kind.obstacle if kind.obstacle
    carat = serve(APP, workers: 1, threads: 1, **options)
    front = kind.new(carat.port).start
    client = Support::RawClient.new(TCPSocket.new("127.0.0.1", front.port, CLIENT))
    response = client.get("/", fields: LIES.merge("Host" => "example.org"))
    JSON.parse(response.body).values_at(*FIELDS)
  ensure
    client&.close
    front&.destroy
  end
end
