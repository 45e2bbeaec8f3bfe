# frozen_string_literal: true

require "test_helper"

# A Rails application that says which names are its own, and that takes only its own hosts, over HTTPS.
class ACMERailsTest < Support::IntegrationTest
  include Support::AcmeServer

  needs(Support::Pebble.obstacle)

  # The arguments of `format` are the exemptions from the check of the host, and from the redirection.
  APP = <<~'RUBY'
    require "logger"
    require "rails"
    require "action_controller/railtie"
    class Shop < Rails::Application
      config.eager_load = false
      config.secret_key_base = "secret" * 10
      config.hosts = ["shop.example"]
      config.force_ssl = true
      %s
      config.logger = Logger.new($stdout)
      routes.append do
        own = Rails.root.join("own").read.split
        get "/domains", to: (lambda do |env|
          name = Rack::Utils.parse_query(env["QUERY_STRING"])["domain"]
          [own.include?(name) ? 200 : 404, {}, []]
        end)
      end
    end
    Rails.application.initialize!
    run Rails.application
  RUBY
  EXEMPT = 'config.host_authorization = { exclude: ->(request) { request.path == "/domains" } }'
  # A machine that does much else needs longer than the default for an authority and a validation.
  PATIENT = %w[--handshake-timeout 60].freeze

  def test_an_application_that_exempts_the_path_from_the_check_of_hosts_is_asked
    server = serve_shop(EXEMPT)

    assert_equal %w[shop.example], names(handshake("shop.example"))
    assert_refused("other.example")
    await_log(server, /no certificate for other\.example: the application says that the name is not its own/)
  end

  def test_an_application_that_refuses_the_host_or_redirects_gives_no_answer
    server = serve_shop("")
    assert_refused("shop.example")
    await_log(server, /no certificate for shop\.example: acme_ask: the application answered 403/)
    server.stop

    again = serve_shop(EXEMPT, ask: "http://127.0.0.1:#{@ports[:http]}/domains")
    assert_refused("shop.example")
    await_log(again, /no certificate for shop\.example: acme_ask: the application answered 301/)
  end

  private

  def serve_shop(exemption, ask: "/domains")
    files = { "authority.pem" => pebble.authority, "own" => "shop.example" }
    serve(format(APP, exemption), binds: binds("*"), files: files, args: [*flags, *PATIENT, "--acme-ask", ask])
  end
end
