# frozen_string_literal: true

$LOAD_PATH.unshift(*%w[../lib ../lab/lib ../lab/test].map { |path| File.expand_path(path, __dir__) }, __dir__)

# Plugins of other gems on the machine (Rails has one) would change what the run prints.
ENV["MT_NO_PLUGINS"] ||= "1"
require "minitest/autorun"

# The kit of the tests, which loads what a test names: Support::RawClient is in support/raw_client.rb.
module Support
  Dir[*%w[support ../lab/test/support].map { |folder| File.expand_path("#{folder}/*.rb", __dir__) }].each do |path|
    autoload File.basename(path, ".rb").split("_").map(&:capitalize).join, path
  end
end

require "support/integration_test"
Minitest::Test.extend(Support::Needs)
Support::DefaultSignals.restore
Support::Watchdog.install
