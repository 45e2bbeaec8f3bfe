# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "carat/warmup/application"

module Carat
  class ApplicationTest < Minitest::Test
    def test_a_rackup_file_becomes_an_application
      load("run ->(env) { [200, {}, [env['x']]] }") { |app| assert_equal [200, {}, ["y"]], app.call("x" => "y") }
    end

    def test_what_the_file_raises_goes_through_with_its_place
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
