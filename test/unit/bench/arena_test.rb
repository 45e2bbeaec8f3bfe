# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "rack/builder"
require "rack/mock"
require "carat/config/settings"
require "carat/config/sources/dsl"
require "carat/version"

module Carat
  # The entries for other people's benchmarks, in bench/arena.
  class ArenaTest < Minitest::Test
    HTTP_ARENA = File.expand_path("../../../bench/arena/httparena", __dir__)

    def test_the_address_is_that_of_the_gem
      assert_equal REPOSITORY, JSON.parse(File.read(File.join(HTTP_ARENA, "meta.json"))).fetch("repo")
    end

    def test_the_config_file_is_one
      settings = Config::Settings.new
      path = File.join(HTTP_ARENA, "carat.rb")
      dsl = Config::DSL.new(settings, Config::Hooks.new, Config::Processes.new, HTTP_ARENA)
      dsl.instance_eval(File.read(path), path)

      assert_equal ["tcp://0.0.0.0:8080"], settings.fetch(:bind)
    end

    def test_the_application_responds_as_http_arena_asks
      assert_equal [200, "ok"], ask("GET", "/pipeline")
      assert_equal [200, "55"], ask("GET", "/baseline11?a=13&b=42")
      assert_equal [200, "75"], ask("POST", "/baseline11?a=13&b=42", input: "20")
      assert_equal [200, "55"], ask("GET", "/baseline2?a=13&b=42")
      assert_equal [404, "not found"], ask("GET", "/nonesuch")
    end

    private

    def ask(verb, target, **options)
      @app ||= Rack::MockRequest.new(Rack::Builder.parse_file(File.join(HTTP_ARENA, "config.ru")).then { |app, _| app })
      response = @app.request(verb, target, **options)
      [response.status, response.body]
    end
  end
end
