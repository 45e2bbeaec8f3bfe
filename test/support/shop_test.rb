# frozen_string_literal: true

require "json"
require "rails/version"
require_relative "integration_test"
require_relative "shop"

module Support
  # A test with the Rails application of test/shop.
  class ShopTest < IntegrationTest
    FIBERS = Rails.version >= "7.0"
    FORM = { "Content-Type" => "application/x-www-form-urlencoded" }.freeze

    # A browser's cookies and the token of the last page.
    Visitor = Struct.new(:server, :cookies) do
      # Sends a request with the cookies, keeps those of the response, and returns it.
      def request(verb, path, fields: {}, body: nil)
        cookie = cookies.map { |pair| pair.join("=") }.join("; ")
        response = server.request(verb, path, fields: { "Cookie" => cookie }.merge(fields), body: body)
        response.values("set-cookie").each { |line| cookies.store(*line[/[^;]+/].split("=", 2)) }
        response
      end

      # The token that the application puts into its forms.
      def token
        request("GET", "/items").body[/name="csrf-token" content="([^"]+)"/, 1]
      end
    end

    private

    # The application, ready.
    # @param rails [String] the environment
    def shop(rails = "production", env: {}, files: {}, **options)
      serve(Shop::FILES["config.ru"], workers: 1, files: Shop::FILES.merge(files),
                                      env: { "RAILS_ENV" => rails, **env }, **options)
    end

    def visitor(server)
      Visitor.new(server, {})
    end

    # Runs the block with the options of each way in which a worker runs requests.
    def in_threads_and_fibers
      yield threads: 2
      yield fibers: 8 if FIBERS
    end

    def json(response)
      assert_equal 200, response.status, response.body
      JSON.parse(response.body)
    end
  end
end
