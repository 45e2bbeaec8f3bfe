# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/settings"

module Carat
  class PoolListTest < Minitest::Test
    def test_a_pool_is_a_name_and_its_settings
      type = Config::Type::PoolList.new
      pools = type.parse(["reports", { paths: ["/reports/*", "/export"], threads: 2, priority: :low }])

      assert_equal [{ name: "reports", paths: ["/reports/*", "/export"], threads: 2, queue_limit: nil,
                      priority: "low" }], pools
      assert_equal ["reports (/reports/*, /export)", "none", "normal"],
                   [type.text(pools), type.text([]), type.parse([:up, { paths: "/up" }]).dig(0, :priority)]
    end

    def test_what_is_wrong_with_a_pool_is_said
      { "takes a name and paths:" => ["reports"],
        "main is the pool of all other requests" => ["main", { paths: "/" }],
        '"Re ports" is not a name of small letters, digits, - and _' => ["Re ports", { paths: "/" }],
        ":workers is none of paths, threads, queue_limit, priority" => ["a", { paths: "/", workers: 1 }],
        "paths: takes 1 to 64 paths" => ["a", {}],
        'paths: "/%61" is not a decoded path such as /export or /reports/*' => ["a", { paths: "/%61" }],
        "threads: 0 is not a whole number, 1 to 1000000" => ["a", { paths: "/", threads: 0 }],
        'priority: "urgent" is none of low, normal, high' => ["a", { paths: "/", priority: "urgent" }] }
        .each { |message, value| assert_refused(message, value) }
      %w[export /a//b /a*b /a?b /ü].each { |path| assert_refused(/is not a decoded path/, ["a", { paths: path }]) }
    end

    def test_pools_have_names_of_their_own_and_are_few
      option = Config::Options.fetch(:pool)
      settings = Config::Settings.new
      names = Array.new(16) { |number| "pool#{number}" }
      names.each { |name| settings.set(option, [name, { paths: "/#{name}" }], "carat.rb:1: pool") }

      assert_equal names, (settings.fetch(:pool).map { |pool| pool[:name] })
      error = assert_raises(Config::ConfigError) { settings.set(option, ["more", { paths: "/" }], "carat.rb:2: pool") }
      assert_equal "carat.rb:2: pool: there are 16 already", error.message
      error = assert_raises(Config::InvalidValue) { option.join([{ name: "a" }], [{ name: "a" }]) }
      assert_equal "a is declared twice", error.message
    end

    private

    def assert_refused(message, value)
      error = assert_raises(Config::InvalidValue) { Config::Type::PoolList.new.parse(value) }
      assert_match message.is_a?(Regexp) ? message : /\A#{Regexp.escape(message)}\z/, error.message
    end
  end
end
