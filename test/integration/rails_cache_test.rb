# frozen_string_literal: true

require "test_helper"

# Pages of Rails that the edge keeps.
class RailsCacheTest < Support::IntegrationTest
  CONTROLLER = <<~'RUBY'
    class ItemsController < ActionController::Base
      def show
        $asked = $asked.to_i + 1
        return unless stale?(etag: params[:id], public: true)

        expires_in 1.hour, public: true if params[:id] == "lasting"
        $rendered = $rendered.to_i + 1
        render plain: "rendered #{$rendered}, asked #{$asked}"
      end
    end
  RUBY
  FILES = Support::RailsApp::FILES.except("config.ru").merge("app/controllers/items_controller.rb" => CONTROLLER).freeze

  # Rails before 7.1 streams a page to Rack 2, and streams are not kept.
  def test_a_page_of_fresh_when_is_confirmed_and_not_rendered_again
    skip "Rails before 7.1" unless Gem::Specification.find_by_name("actionpack").version >= Gem::Version.new("7.1")

    server = serve(Support::RailsApp::FILES["config.ru"], files: FILES, args: %w[--cache 16MB])
    first, second = Array.new(2) { server.get("/items/1") }

    assert_equal [200, "public", "rendered 1, asked 1"], [first.status, first["cache-control"], first.body]
    assert_equal [200, "rendered 1, asked 1"], [second.status, second.body]
    assert_equal "carat; fwd=stale; fwd-status=304; stored", second["cache-status"]
    has_it = server.get("/items/1", fields: { "If-None-Match" => first["etag"] })
    assert_equal [304, ""], [has_it.status, has_it.body]
    lasting = Array.new(2) { server.get("/items/lasting") }
    assert_equal ["rendered 2, asked 4", "carat; hit"], [lasting.last.body, lasting.last["cache-status"]]
  end
end
