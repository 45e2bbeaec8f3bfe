# frozen_string_literal: true

# Writes the Makefile with which `gem install` and script/setup compile Carat; an absolute CARGO_TARGET_DIR is honoured.
require_relative "makefile"
require_relative "prerequisites"

missing = Carat::Prerequisites.new.missing
abort "carat: cannot be compiled, missing: #{missing.join(", ")}" if missing.any?

target = ENV.fetch("CARGO_TARGET_DIR", nil)
target = nil if target&.empty?
root = File.expand_path("../..", __dir__)
File.write("Makefile", Carat::Makefile.new(root: root, target: target && File.expand_path(target, root)).to_s)
