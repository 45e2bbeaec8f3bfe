# frozen_string_literal: true

require "carat/log/process_log"
require "carat/warmup/eager_loading"
require "stringio"
require "test_helper"

module Carat
  class EagerLoadingTest < Minitest::Test
    Config = Struct.new(:cache_classes, :eager_load, :eager_load_namespaces, keyword_init: true)
    Application = Struct.new(:initialized, :config, :routes) do
      alias_method :initialized?, :initialized

      def reload_routes_unless_loaded = self.routes = :loaded
    end

    def test_application_that_does_not_reload_is_loaded_once
      assert_equal [true, false, false], [[true, false], [true, true], [false, false]].map { |cache_classes, eager_load|
        loaded?(cache_classes:, eager_load:)
      }
    end

    def test_routes_are_loaded_although_the_application_reloads
      with_rails(true, cache_classes: false, eager_load: false) do
        Warmup::EagerLoading.run(log: nil)
        assert_equal :loaded, ::Rails.application.routes
      end
    end

    def test_application_that_is_not_initialized_is_left_alone
      refute loaded?(initialized: false, cache_classes: true, eager_load: false)
    end

    def test_without_rails_nothing_happens
      assert_nil Warmup::EagerLoading.run(log: nil)
    end

    def test_code_that_fails_to_load_is_reported
      log = Log::ProcessLog.new(stream = StringIO.new, mold: true)
      broken = Object.new
      def broken.eager_load! = raise(LoadError, "no such file")
      with_rails(true, cache_classes: true, eager_load: false, eager_load_namespaces: [broken]) do
        Warmup::EagerLoading.run(log: log)
      end
      assert_match(/\Acarat: mold: cannot load the whole application before the fork: .*no such file/, stream.string)
    end

    private

    def loaded?(initialized: true, **config)
      loads = 0
      namespace = Object.new
      namespace.define_singleton_method(:eager_load!) { loads += 1 }
      with_rails(initialized, **config, eager_load_namespaces: [namespace]) { Warmup::EagerLoading.run(log: nil) }
      loads == 1
    end

    def with_rails(initialized, **config)
      skip "Rails is loaded" if defined?(::Rails)

      application = Application.new(initialized, Config.new(**config))
      Object.const_set(:Rails, Module.new.tap { |rails| rails.define_singleton_method(:application) { application } })
      yield
    ensure
      Object.send(:remove_const, :Rails) if application
    end
  end
end
