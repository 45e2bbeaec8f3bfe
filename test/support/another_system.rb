# frozen_string_literal: true

# A program that Ruby runs with `-r` of this file takes its machine for one with another operating system:
# CARAT_TEST_SYSTEM, by default a Mac. `mingw-ucrt` has no SIGPIPE, no fork, and no UNIXSocket either, as on Windows.
# All files that it opens are still this machine's.
require "rbconfig"
require "socket"

system = ENV.fetch("CARAT_TEST_SYSTEM", "darwin23")
cpu = system.start_with?("mingw") ? "x64" : "arm64"
RbConfig::CONFIG["host_os"] = system
RbConfig::CONFIG["arch"] = "#{cpu}-#{system}"
Object.send(:remove_const, :RUBY_PLATFORM)
RUBY_PLATFORM = "#{cpu}-#{system}".freeze
if defined?(Gem::Platform)
  Gem::Platform.instance_variable_set(:@local, nil)
  Gem.platforms = nil
end

if system.start_with?("mingw")
  %i[UNIXSocket UNIXServer].each { |name| Object.send(:remove_const, name) }
  signals = Signal.list.slice("EXIT", "INT", "ILL", "ABRT", "FPE", "KILL", "SEGV", "TERM")
  Signal.define_singleton_method(:list) { signals.dup }
  Process.undef_method(:fork) if Process.method_defined?(:fork)
  %i[RLIMIT_NOFILE RLIMIT_FSIZE].each { |name| Process.send(:remove_const, name) }
end
