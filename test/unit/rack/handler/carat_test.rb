# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"

# Rack 2 has rack/handler; with Rack 3 the registry is in the gem rackup. Each stands in a process of its own.
class RackHandlerTest < Minitest::Test
  LIBRARY = File.expand_path("../../../../lib", __dir__)

  def test_rack_finds_the_handler_by_its_name
    assert_registered "Rack::Handler", "rack/handler"
  end

  def test_rackup_finds_the_handler_by_its_name
    assert_registered "Rackup::Handler", "rackup/handler"
  end

  private

  def assert_registered(registry, file)
    code = <<~RUBY
      begin
        require "rack"
        require #{file.dump}
      rescue LoadError
        exit 3
      end
      puts #{registry}.get("carat").name, #{registry}.get("carat").valid_options.key?("threads=N")
    RUBY
    out, status = Open3.capture2(RbConfig.ruby, "-I", LIBRARY, "-e", code)
    skip "#{file} is not installed" if status.exitstatus == 3

    # Where both are installed, Rack's registry is Rackup's.
    assert_match(/\ARack(up)?::Handler::Carat\ntrue\n\z/, out)
  end
end
