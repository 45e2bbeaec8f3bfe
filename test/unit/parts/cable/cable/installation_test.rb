# frozen_string_literal: true

require "open3"
require "rbconfig"
require "test_helper"

module Carat
  class CableInstallationTest < Minitest::Test
    include Support::CableApp
    needs Support::CableApp.obstacle

    # Installs in a process of its own, and prints what it says.
    PROGRAM = <<~'RUBY'
      require "carat"
      require "stringio"
      module Support; module CableApp; ORIGIN = ""; LOG = StringIO.new; end; end
      path = "/cable"
      processes = {}
      eval(ARGV.fetch(0))
      begin
        Carat::Cable.install(->(_env) {}, path, processes)
        print "installed"
      rescue Carat.const_get(:Config)::ConfigError => e
        print e.message
      end
    RUBY
    SHOP = "require #{File.expand_path("../../../../support/cable_app/shop.rb", __dir__).inspect};".freeze

    LEDGER = "#{SHOP} require 'support/cable_broker'; Support::CableBroker::Adapter.define; " \
             "through = ->(name) { ActionCable.server.config.cable[:through] = name };".freeze

    def test_an_application_that_names_the_adapter_is_prepared
      assert_equal "installed", install(SHOP)
      assert_equal "installed", install("#{SHOP} ActionCable.server.config.cable[:adapter] = 'test'")
    end

    def test_action_cable_has_to_be_loaded
      assert_match(/\Acable: the application does not load Action Cable: require "action_cable\/engine"/, install(""))
    end

    def test_another_adapter_is_refused
      assert_equal "cable: config/cable.yml must name the adapter carat, not redis",
                   install("#{SHOP} ActionCable.server.config.cable[:adapter] = 'redis'")
      assert_equal "cable: config/cable.yml must name the adapter carat",
                   install("#{SHOP} ActionCable.server.config.cable = nil")
    end

    def test_a_broker_needs_a_process_that_hears_it
      assert_equal "cable: config/cable.yml passes broadcasts through ledger, which no process of this server hears: " \
                   'add process("cable", overlap: true) { Carat::Cable.relay } to the config file',
                   install("#{LEDGER} through.call('ledger')")
      assert_equal "installed", install("#{LEDGER} through.call('ledger'); processes = { 'cable' => 1 }")
    end

    def test_a_broker_connects_processes
      assert_equal "cable: config/cable.yml: through async reaches one process only",
                   install("#{LEDGER} through.call('async')")
      assert_match(%r{\Acable: config/cable.yml: through radio: Could not load the 'radio' Action Cable pubsub adapter},
                   install("#{LEDGER} through.call('radio')"))
    end

    def test_the_path_is_one_from_which_a_route_leads_to_action_cable
      assert_equal "installed", install("#{SHOP} path = '/cable/'")
      assert_equal "cable: the routes lead to Action Cable at /cable, not at /sockets: name that path",
                   install("#{SHOP} path = '/sockets'")
      mount = "Rails.application.routes.append { mount ActionCable.server => '/sockets' }; " \
              "Rails.application.reload_routes!"

      assert_equal "installed", install("#{SHOP} #{mount}; path = '/sockets'")
      assert_equal "installed; sockets at /sockets are refused: the option cable is /cable",
                   install("#{SHOP} #{mount}; at_exit { print '; ', Support::CableApp::LOG.string[/sockets at.*/] }")
    end

    def test_a_channel_that_cannot_work_is_refused
      channel = "class NewsChannel < TestChannel; periodically(:send_news, every: 0.01); end"

      assert_match(/\Acable: NewsChannel, .*: `periodically` every 0.01 seconds does not work/,
                   install("#{SHOP} #{channel}"))
    end

    private

    def install(code)
      flags = $LOAD_PATH.flat_map { |path| ["-I", path] }
      out, = Open3.capture2e(RbConfig.ruby, "-W0", *flags, "-rlogger", "-e", PROGRAM, code)
      out
    end
  end
end
