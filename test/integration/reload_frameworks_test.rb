# frozen_string_literal: true

require "test_helper"

# Applications that reload their code by themselves, and those that do not.
class ReloadFrameworksTest < Support::IntegrationTest
  SINATRA = <<~'RUBY'
    require "sinatra/base"
    class Shop < Sinatra::Base
      set :host_authorization, permitted_hosts: []
      set :views, File.join(__dir__, "views")
      get("/") { erb :item, locals: { name: "tea" } }
    end
  RUBY

  def test_sinatra_gets_new_code_and_new_templates
    server = start({ "config.ru" => "require_relative 'shop'\nrun Shop\n", "shop.rb" => SINATRA,
                     "views/item.erb" => "<%= name %>" })

    assert_equal "tea", server.get.body
    server.directory.replace("shop.rb", SINATRA.sub("tea", "coffee"))

    assert_equal "coffee", server.get.body
    server.directory.replace("views/item.erb", "some <%= name %>")

    assert_equal "some coffee", server.get.body
    assert_equal 2, restarts(server)
  end

  def test_rails_reloads_its_code_itself
    controller = "app/controllers/items_controller.rb"
    code = Support::RailsApp::FILES.fetch(controller)
    server = start(Support::RailsApp::FILES)

    assert_match(/\Aitem 1 /, server.get("/items/1").body)
    server.directory.replace(controller, code.sub("item #", "thing #"))

    assert_match(/\Athing 1 /, server.get("/items/1").body)
    server.directory.replace("config/routes.rb", 'Rails.application.routes.draw { get "/:id", to: "items#show" }')

    assert_match(/\Athing 2 /, server.get("/2").body)
    assert_equal 0, restarts(server)
  end

  def test_what_rails_does_not_reload_is_reloaded
    server = start(Support::RailsApp::FILES)
    { "config/initializers/name.rb" => "raise 'not now'", "lib/tasks.rb" => "" }.each do |name, content|
      before = restarts(server)
      server.directory.replace(name, content)
      server.get("/items/1")

      assert_equal before + 1, restarts(server)
    end

    assert_match(%r{\Aconfig/initializers/name.rb:1: not now \(RuntimeError\)}, server.get("/items/1").body)
    server.directory.replace("config/initializers/name.rb", "")

    assert_match(/\Aitem 1 /, server.get("/items/1").body)
  end

  def test_code_outside_of_the_application_is_seen
    files = { "app/config.ru" => "require_relative '../shared/part'\nrun ->(_env) { [200, {}, [PART]] }",
              "shared/part.rb" => "PART = 'one'" }
    command = "cd app; exec #{Support::ServerOptions::COMMAND.join(" ")} \"$@\""
    server = start(files, command: ["sh", "-c", command, "carat"])

    assert_equal "one", server.get.body
    server.directory.replace("shared/part.rb", "PART = 'two'")

    assert_equal "two", server.get.body
  ensure
    server&.stop # its processes are in another directory, where teardown does not look
  end

  private

  def start(files, command: nil)
    options = { app: files["config.ru"], files: files, workers: 1, args: ["--reload"], command: command }.compact
    server(**options).start
  end

  def restarts(server)
    server.log.scan(" info restarting").size
  end
end
