# frozen_string_literal: true

require "json"
require "test_helper"

class HandlerTest < Support::IntegrationTest
  LIBRARY = { "RUBYLIB" => File.join(Support::ServerOptions::ROOT, "lib") }.freeze
  WHO = 'run ->(env) { [200, {}, [[ENV["RACK_ENV"], Process.ppid, env["SERVER_PROTOCOL"]].join(" ")]] }'
  RAILS = {
    "bin/rails" => <<~RUBY,
      APP_PATH = File.expand_path("../config/application", __dir__)
      require "rails/commands"
    RUBY
    "config/application.rb" => <<~RUBY,
      require "rails"
      require "action_controller/railtie"
      class Shop < Rails::Application
        config.eager_load = true
        config.secret_key_base = "secret" * 10
        config.logger = Logger.new($stdout)
        config.consider_all_requests_local = false
      end
    RUBY
    "config/routes.rb" => <<~RUBY,
      Rails.application.routes.draw do
        get "/items/:id", to: "items#show"
        post "/items", to: "items#create"
        get "/broken", to: "items#broken"
        get "/stream", to: "items#stream"
      end
    RUBY
    "app/controllers/items_controller.rb" => <<~RUBY,
      class ItemsController < ActionController::Base
        def show
          session[:seen] = [*session[:seen], params[:id]]
          render json: { id: params[:id], q: params[:q], seen: session[:seen], edge: Process.ppid, env: Rails.env }
        end

        def create
          render plain: params[:item].to_unsafe_h.to_json, status: :created
        end

        def broken
          raise "broken"
        end

        def stream
          self.response_body = Enumerator.new { |out| 3.times { |number| out << "line \#{number}\\n" } }
        end
      end
    RUBY
    "config.ru" => <<~RUBY
      require_relative "config/application"
      Rails.application.initialize!
      run Rails.application
    RUBY
  }.freeze

  def test_rackup_becomes_the_server
    server = rackup("-o", "127.0.0.1", "-p", "0", "-E", "staging")

    assert_equal "staging #{server.pid} HTTP/1.1", server.get.body
    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  end

  def test_rackup_takes_options_of_carat
    server = rackup("-o", "127.0.0.1", "-p", "0", "-O", "workers=2", "-O", "Threads=2")
    await_workers(server, 2)

    assert_equal [1 + 2] * 2, (server.workers.values.map { |pid| Support::ProcessTree.sockets(pid).size })
  end

  def test_rackup_leaves_the_address_to_the_config_file
    server = rackup(files: { "carat.rb" => "bind \"unix://carat.sock\"" })

    assert_equal ["unix://#{server.directory.path}/carat.sock"], server.urls
    assert_equal "development #{server.pid} HTTP/1.1", server.get.body
  end

  def test_rackup_without_a_file_is_told_what_to_do
    server = server(command: command("rackup"), flags: false, env: LIBRARY,
                    args: ["-s", "carat", "-b", "run ->(_env) { [200, {}, []] }"])

    assert_equal 1, server.run.exitstatus
    await_log(server, %r{^carat: needs the application in a rackup file, .*: run carat path/to/config\.ru; .* Puma$})
  end

  def test_rails_server_becomes_the_server
    server = serve(nil, flags: false, files: RAILS, env: LIBRARY, command: [RbConfig.ruby, "bin/rails"],
                        args: %w[server -u carat -b 127.0.0.1 -p 0])

    assert_equal server.pid, item(server.get("/items/1")).fetch("edge")
    assert_equal 0, server.stop.exitstatus
  end

  def test_rails_application_under_carat
    server = serve(nil, files: RAILS, workers: 2, env: { "RAILS_ENV" => "production" })
    first = server.get("/items/1?q=a+b")

    assert_equal ["1", "a b", ["1"], "production"], item(first).values_at("id", "q", "seen", "env")
    cookie = first["set-cookie"][/[^;]+/]
    assert_equal %w[1 2], item(server.get("/items/2", fields: { "Cookie" => cookie })).fetch("seen")
    assert_rails_reads_forms(server)
    assert_equal "line 0\nline 1\nline 2\n", server.get("/stream").body
    assert_equal 500, server.get("/broken").status
    await_log(server, /RuntimeError \(broken\)/)
    assert_equal 404, server.get("/nowhere").status
  end

  private

  def rackup(*args, **options)
    serve(WHO, flags: false, command: command("rackup"), args: ["-s", "carat", *args], env: LIBRARY, **options)
  end

  # A gem's command, run by this Ruby.
  def command(name)
    [RbConfig.ruby, "-S", name]
  end

  def item(response)
    assert_equal 200, response.status, response.body
    JSON.parse(response.body)
  end

  def assert_rails_reads_forms(server)
    { "application/x-www-form-urlencoded" => "item[name]=nut", "application/json" => '{"item":{"name":"nut"}}' }
      .each do |type, body|
        response = server.request("POST", "/items", fields: { "Content-Type" => type }, body: body)
        assert_equal [201, '{"name":"nut"}'], [response.status, response.body]
      end
  end
end
