# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "carat/warmup/application"

module Carat
  class ApplicationTest < Minitest::Test
    def test_application_of_a_rackup_file_is_loaded
      load("run ->(env) { [200, {}, [env['x']]] }") { |app| assert_equal [200, {}, ["y"]], app.call("x" => "y") }
    end

    def test_error_in_the_rackup_file_is_raised_with_its_place
      error = assert_raises(NameError) { load("\nno_such_thing") }
      assert_match(/config.ru:2/, error.backtrace.first)
    end


    private

    def load(text)
      Dir.mktmpdir do |directory|
        path = File.join(directory, "config.ru")
        File.write(path, text)
        app = Warmup::Application.load(path)
        yield app if block_given?
      end
    end
  end
end
