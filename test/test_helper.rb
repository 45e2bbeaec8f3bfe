# frozen_string_literal: true

$LOAD_PATH.unshift(*%w[../lib ../lab/lib ../lab/test].map { |path| File.expand_path(path, __dir__) }, __dir__)

# Plugins of other gems on the machine (Rails has one) would change what the run prints.
ENV["MT_NO_PLUGINS"] ||= "1"
require "minitest/autorun"
require "support/default_signals"
require "support/integration_test"
require "support/watchdog"

Support::DefaultSignals.restore
Support::Watchdog.install
