# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/program"
require "carat/config/configuration"
require "support/workplace"

module Carat
  class ImportTest < Minitest::Test
    include Support::Workplace

    PUMA = <<~RUBY
      threads 2, ENV.fetch("RAILS_MAX_THREADS", 4)
      workers ENV.fetch("WEB_CONCURRENCY", 0)
      port ENV.fetch("PORT", 3000)
      preload_app!
      before_fork { $before = :mold }
    RUBY

    def test_the_configuration_of_the_directory_is_found
      write("config/puma.rb", PUMA)

      assert_equal 0, import
      assert_match(/^# From config\/puma\.rb/, @out.string)
      assert_match(/^threads ENV\.fetch\("RAILS_MAX_THREADS", 4\)$/, @out.string)
    end

    def test_the_result_is_a_configuration_of_carat
      write("shop.rb", PUMA)
      import("shop.rb")
      write("carat.rb", @out.string)
      configuration = Config::Configuration.new(Config::Settings.new, {})

      assert_equal [4, 1..1, ["tcp://*:3000"]], %i[threads workers bind].map { |name| configuration[name] }
      configuration.hooks.run(:on_mold_boot)
      assert_equal :mold, $before # rubocop:disable Style/GlobalVars
    end

    def test_files_of_rails_that_have_to_change_are_named
      write("config/puma.rb", PUMA)
      import
      refute_match(/Thruster|entrypoint|cable/i, @out.string)

      %w[bin/thrust bin/docker-entrypoint config/cable.yml].each { |path| write(path, "") }
      import
      assert_match(/^# bin.docker-entrypoint .*\n# if .*"bundle exec carat" \]; then$/, @out.string)
      assert_match(/^# Thruster: .*Remove gem "thruster" and bin\/thrust/, @out.string)
      assert_includes @out.string, %(# cable "/cable"\n)
      write("carat.rb", @out.string)
      assert_equal 4, Config::Configuration.new(Config::Settings.new, {})[:threads]
    end

    def test_a_missing_file_is_told_with_what_to_do
      assert_equal 78, import
      assert_equal "there is no config/puma.rb or puma.rb; name the file: carat import FILE\n", @err.string
      assert_equal 78, import("nowhere.rb")
      assert_equal "nowhere.rb: No such file or directory; name the file: carat import FILE\n", @err.string
    end

    private

    def import(*words)
      @out = StringIO.new
      @err = StringIO.new
      CLI::Program.new(["import", *words], env: {}, out: @out, err: @err).run
    end
  end
end
