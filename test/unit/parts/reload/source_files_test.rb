# frozen_string_literal: true

require "carat/parts/reload/source_files"
require "fileutils"
require "test_helper"
require "tmpdir"

module Carat
  class SourceFilesTest < Minitest::Test
    # A test stands in for Rails.
    Application = Struct.new(:config, :routes_reloader) do
      def initialized?
        true
      end
    end
    Config = Struct.new(:cache_classes)
    Paths = Struct.new(:paths)

    def setup
      @directory = File.realpath(Dir.mktmpdir)
      %w[config.ru carat.rb].each { |name| write(name) }
    end

    def teardown
      $LOADED_FEATURES.reject! { |path| path.start_with?(@directory) }
      FileUtils.remove_entry(@directory)
    end

    def test_the_directory_of_the_application_is_watched_before_it_is_loaded
      known = sources.before_load

      assert_equal [[@directory], false], known.values_at(:trees, :complete)
      assert_equal [path("config.ru"), path("carat.rb")], known[:files]
      assert_includes known[:except], path("log")
    end

    def test_a_rackup_file_elsewhere_is_in_its_own_directory
      write("other/config.ru")

      assert_equal [path("other")], sources(rackup: "other/config.ru", directory: path("work")).before_load[:trees]
      assert_equal [@directory], sources(rackup: "other/config.ru").before_load[:trees]
    end

    def test_the_whole_file_system_is_not_watched
      assert_equal [@directory],
                   Parts::Reload::SourceFiles.new(path("config.ru"), nil, directory: "/").before_load[:trees]
      assert_empty Parts::Reload::SourceFiles.new("/config.ru", nil, directory: "/").before_load[:trees]
    end

    def test_loaded_files_outside_count_and_those_of_libraries_do_not
      outside = File.join(@directory, "shared/part.rb")
      $LOADED_FEATURES.push(outside, path("app/a.rb"), path("app/a.so"))
      write("app/config.ru")
      known = sources(rackup: "app/config.ru", directory: path("app")).loaded

      assert_equal [path("app/config.ru"), path("carat.rb"), outside],
                   known[:files].select { |file| file.start_with?(@directory) }
      refute(known[:files].any? { |file| file.include?("/minitest") || file.include?("carat/warmup") })
      assert known[:complete]
    end

    def test_loaded_files_behind_a_link_to_a_directory_count_where_they_are
      write("shared/part.rb")
      write("app/config.ru")
      File.symlink(path("shared"), path("app/link"))
      $LOADED_FEATURES.push(path("app/link/part.rb"), path("app/gone.rb"))

      assert_includes sources(rackup: "app/config.ru", directory: path("app")).loaded[:files], path("shared/part.rb")
    end

    def test_rails_is_left_what_it_reloads_itself
      %w[config/routes.rb lib/a.rb Gemfile.lock app/x.rb].each { |name| write(name) }
      known = with_rails(cache_classes: false) { sources.loaded }

      assert_equal [path("config"), path("lib")], known[:trees]
      assert_equal [path("config.ru"), path("carat.rb"), path("Gemfile.lock")], known[:files].first(3)
      assert_includes known[:except], path("config/routes.rb")
      assert_equal [@directory], with_rails(cache_classes: true) { sources.loaded }[:trees]
    end

    def test_a_path_that_no_json_can_hold_is_left_out
      name = "\xFF.rb".b
      $LOADED_FEATURES.push("#{@directory}/#{name}")

      assert(sources(directory: path("work"), rackup: "config.ru").loaded[:files].all?(&:valid_encoding?))
    end

    private

    def sources(rackup: "config.ru", directory: @directory)
      FileUtils.mkdir_p(directory)
      Parts::Reload::SourceFiles.new(path(rackup), path("carat.rb"), directory: directory)
    end

    def path(name)
      File.join(@directory, name)
    end

    def write(name)
      FileUtils.mkdir_p(File.dirname(path(name)))
      File.write(path(name), "")
    end

    def with_rails(cache_classes:)
      skip "Rails is loaded" if defined?(::Rails)

      application = Application.new(Config.new(cache_classes), Paths.new([path("config/routes.rb")]))
      rails = Module.new { define_singleton_method(:application) { application } }
      Object.const_set(:Rails, rails)
      yield
    ensure
      Object.send(:remove_const, :Rails) if application
    end
  end
end
