# frozen_string_literal: true

require "open3"
require "test_helper"

# What script/setup says before it installs anything, on machines that the tests make up.
class SetupTest < Minitest::Test
  include Support::Workplace

  ROOT = File.expand_path("../../..", __dir__)
  TOOLS = %w[bash cat dirname env grep head id sed sort xargs].freeze
  DEBIAN = "ID=debian\nVERSION_CODENAME=%s\n"
  RELEASES = {
    "ID=debian\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\n" => "12", format(DEBIAN, "trixie") => "13",
    "ID=debian\nVERSION_CODENAME=forky\n" => "14", "ID=raspbian\nID_LIKE=debian\nVERSION_CODENAME=bookworm\n" => "12",
    "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\nVERSION_CODENAME=noble\n" => "13",
    "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\n" => "11",
    "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n" => "13",
    "ID=fedora\nVERSION_ID=42\n" => "", "ID=alpine\nVERSION_ID=3.22.1\n" => ""
  }.freeze

  def setup
    super
    TOOLS.each { |name| FileUtils.ln_s(path_of(name), name) }
    tool("uname", "echo Linux")
    tool("dpkg-query", "exit 1")
    tool("apt-get", 'echo "$*" >>calls')
    tool("id", "echo 1000")
  end

  def test_each_system_has_the_packages_of_a_debian_release
    RELEASES.each do |text, release|
      write("os-release", text)
      assert_equal release, bash('. script/packages.sh; debian_release "$1"', path("os-release")).first.chomp, text
    end
  end

  def test_other_systems_learn_in_one_line_where_carat_runs
    tool("uname", "echo Darwin")
    assert_refused(/\Asetup: Carat runs on Linux only; on Darwin, .*\.devcontainer/, nil)
    tool("uname", "echo Linux")
    ["ID=fedora\n", "ID=alpine\n", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=jammy\n"].each do |text|
      assert_refused(/\Asetup: .* Debian 12 and 13 .* only; elsewhere, .*script\/setup --build/, text)
    end
  end

  def test_rust_comes_from_debian_or_is_asked_for_before_anything_is_installed
    { "bookworm" => "cargo-web", "trixie" => "cargo" }.each do |name, package|
      assert_refused(/run as root: apt-get install gcc .* #{package}$/, format(DEBIAN, name))
    end
    tool("cargo", "echo 'cargo 1.75.0'")
    assert_refused(/cargo [\d.]+ or later is needed, and \S+cargo is older; .*rustup/, format(DEBIAN, "bookworm"))
    FileUtils.rm("cargo")
    tool("sudo", 'exec "$@"')
    tool("apt-cache", "echo '  Candidate: 1.75.0+dfsg0ubuntu1-0ubuntu7.4'")
    assert_refused(/cargo [\d.]+ or later is needed; get it with /, format(DEBIAN, "trixie"), calls: "update -qq\n")
  end

  def test_the_checks_of_rust_come_from_debian_where_cargo_does
    tool("cargo", "echo 'cargo 1.85.0'")
    assert_refused(/\A(?!.*(?:cargo|clippy)).* yard /, format(DEBIAN, "trixie"), mode: "--test")
    tool("dpkg-query", 'case "${!#}" in cargo | cargo-web) echo installed ;; *) exit 1 ;; esac')
    { "bookworm" => "rustfmt-web rust-web-clippy", "trixie" => "rustfmt rust-clippy" }.each do |name, packages|
      assert_refused(/ yard .* #{packages}$/, format(DEBIAN, name), mode: "--test")
    end
  end

  def test_a_failure_of_apt_ends_with_a_line_of_setup
    tool("sudo", 'exec "$@"')
    tool("apt-get", "echo 'E: no such mirror' >&2; exit 100")

    assert_refused(/\AE: no such mirror\nsetup: apt-get update has failed; .*Nothing is installed/,
                   format(DEBIAN, "trixie"), lines: 2)
  end

  private

  def assert_refused(message, os_release, calls: "", lines: 1, mode: "--serve")
    write("os-release", os_release) if os_release
    output, status = bash("script/setup #{mode}", "OS_RELEASE" => path("os-release"))
    assert_match message, output
    assert_equal [1, lines], [status.exitstatus, output.lines.size], output
    assert_equal calls, File.exist?("calls") ? File.read("calls") : ""
  end

  def bash(command, *arguments, **env)
    env = { "PATH" => @workplace, "CARGO_HOME" => path("none"), **env }
    Open3.capture2e(env, path("bash"), "-c", command, "_", *arguments, chdir: ROOT)
  end

  def tool(name, text)
    FileUtils.rm_f(name)
    write(name, "#!#{path_of("bash")}\n#{text}\n".sub(">>calls", ">>#{path("calls")}"))
    File.chmod(0o755, name)
  end

  def path_of(name)
    ENV.fetch("PATH").split(":").map { |directory| File.join(directory, name) }.find { |path| File.executable?(path) }
  end
end
