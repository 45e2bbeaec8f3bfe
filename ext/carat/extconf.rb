# frozen_string_literal: true

# Writes the Makefile with which `gem install` and script/setup compile Carat into CARGO_TARGET_DIR, if that is set.
# Where Carat does not serve, the gem is installed without compiled parts: a team may have other machines.
require_relative "makefile"
require_relative "prerequisites"

prerequisites = Carat::Prerequisites.new
unless prerequisites.linux?
  File.write("Makefile", Carat::Makefile::NOTHING)
  exit
end

missing = prerequisites.missing
abort "carat: cannot compile, missing: #{missing.join(", ")}" if missing.any?

target = ENV.fetch("CARGO_TARGET_DIR", nil)
target = nil if target&.empty?
root = File.expand_path("../..", __dir__)
File.write("Makefile", Carat::Makefile.new(root: root, target: target && File.expand_path(target, root)).to_s)
