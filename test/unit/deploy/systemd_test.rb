# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "tmpdir"
require "carat/config/options"

module Carat
  class SystemdTest < Minitest::Test
    UNITS = File.expand_path("../../../deploy/systemd", __dir__)

    def test_the_units_are_valid
      skip "systemd-analyze is not installed" unless system("systemd-analyze", "--version", out: File::NULL)
      Dir.mktmpdir do |directory|
        units = Dir.children(UNITS).sort.map { |name| install(name, directory) }
        out, status = Open3.capture2e("systemd-analyze", "verify", "--man=no", *units)

        assert_equal ["", true], [complaints(out), status.success?]
      end
    end

    def test_the_service_waits_as_long_as_the_server_may_take
      text = File.read(File.join(UNITS, "carat.service"))
      stop, start = %w[TimeoutStopSec TimeoutStartSec].map { |name| text[/^#{name}=(\d+)$/, 1].to_i }

      assert_operator stop, :>, Config::Options.fetch(:shutdown_timeout).default + 4.25
      # For the mold, and for its first worker.
      assert_operator start, :>, 2 * Config::Options.fetch(:boot_timeout).default
    end

    private

    # Copies a unit whose command and user exist on this machine.
    def install(name, directory)
      text = File.read(File.join(UNITS, name))
      text = text.sub(/^ExecStart=.*/, "ExecStart=/bin/true").sub(/^User=.*/, "User=daemon")
      File.join(directory, name).tap { |path| File.write(path, text) }
    end

    # What systemd says of our units, not of those of this machine.
    def complaints(text)
      text.lines.grep(/carat\.(service|socket)/).join
    end
  end
end
