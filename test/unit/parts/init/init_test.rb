# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/parts/init/application"
require "carat/parts/init/config_text"
require "carat/cli/program"
require "carat/config/configuration"
require "support/workplace"

module Carat
  class InitTest < Minitest::Test
    include Support::Workplace

    def test_the_file_is_a_valid_configuration_that_changes_nothing
      before = configured

      assert_equal 0, init
      assert_match(/\Acarat: carat.rb: written for a Rack application; carat check validates it.*\n\z/, @out.string)
      assert_equal before.merge(config: nil), configured.merge(config: nil)
    end

    def test_what_it_suggests_is_valid_too
      %w[database cable].each { |name| write("config/#{name}.yml", "") }
      Dir.mkdir("public")
      init
      File.write("carat.rb", File.read("carat.rb").gsub(/^# (?=[a-z_]+ \S+$)/, ""))

      assert_equal [1..4, 5, ["/"], 30.0, "/cable"],
                   configured.values_at(:workers, :threads, :warm_up, :request_timeout, :cable)
      assert_includes File.read("carat.rb"), "The pool in config/database.yml must be as large."
    end

    def test_the_health_check_of_rails_is_asked_before_a_fork
      write("config/application.rb", "")
      write("config/environment.rb", "")
      write("config/routes.rb", %(# get "no" => "rails/health#show"\nget "up" => "rails/health#show", as: :health\n))
      init

      assert_includes @out.string, "for a Rails application;"
      assert_equal [["/up"], ["/up"]], configured.values_at(:warm_up, :restart_check)
    end

    def test_a_small_container_gets_what_fits_there
      write("Gemfile", %(gem "solid_queue"\n))
      write("config/cable.yml", "production:\n  adapter: carat\n")
      File.write("carat.rb", small(256 << 20))

      assert_match(/^# The container has 256 MiB: /, File.read("carat.rb"))
      assert_equal [1..1, 3, "off", "/cable"], configured.values_at(:workers, :threads, :jit, :cable)
      assert_equal ["jobs"], Config::Configuration.new(Config::Settings.new, { "RACK_ENV" => "production" })
                                                  .processes.map(&:name)
      refute_match(/^(process|workers)/, small(512 << 20))
    end

    def test_sinatra_is_recognized
      write("Gemfile", %(gem "sinatra"\n))
      init

      assert_includes @out.string, "for a Sinatra application;"
    end

    def test_a_configuration_of_puma_is_pointed_to
      write("config/puma.rb", "threads 5\n")
      init

      assert_includes @out.string, "config/puma.rb is not read; to take over what it says: carat import > carat.rb"
    end

    def test_nothing_is_overwritten
      %w[carat.rb config/carat.rb].each do |path|
        write(path, "workers 2\n")

        assert_equal [78, "#{path}: is there already; carat init overwrites nothing\n"], [init, @err.string]
        assert_equal "workers 2\n", File.read(path)
        File.delete(path)
      end
    end

    def test_a_directory_without_an_application_gets_no_file
      File.delete("config.ru")

      assert_equal 78, init
      assert_includes @err.string, "there is no config.ru here"
      refute_path_exists "carat.rb"
    end

    private

    def init
      @out, @err = Array.new(2) { StringIO.new }
      CLI::Program.new(["init"], env: {}, out: @out, err: @err).run
    end

    def small(bytes)
      limits = CLI::MachineLimits.new("container_memory" => bytes)
      CLI::Init::ConfigText.new(CLI::Init::Application.new, limits: limits).to_s
    end

    def configured
      configuration = Config::Configuration.new(Config::Settings.new, {})
      Config::Options.to_h { |option| [option.name, configuration[option.name]] }
    end
  end
end
