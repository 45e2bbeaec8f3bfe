# frozen_string_literal: true

require_relative "../lib/carat/version"
require_relative "lib/carat/lab/version"

Gem::Specification.new do |spec|
  spec.name = "carat-lab"
  spec.version = Carat::Lab::VERSION
  spec.authors = ["The Carat authors"]
  spec.summary = "Finds where the memory and the time of a Ruby (Rack) application go"
  spec.description = <<~TEXT
    Subcommands of carat that weigh an application, find its leaks, profile and load it, and compare two set-ups, and
    assertions about memory for tests. It belongs to the development group, and compiles during installation with the
    tools that Carat needs.
  TEXT
  spec.licenses = %w[MIT ISC] # ISC: libraries in lib/carat/lab/html/vendor
  spec.required_ruby_version = ">= 3.1"
  spec.homepage = "#{Carat::REPOSITORY}/tree/v#{spec.version}/lab"
  spec.metadata = {
    "source_code_uri" => "#{Carat::REPOSITORY}/tree/v#{spec.version}/lab",
    "changelog_uri" => "#{Carat::REPOSITORY}/blob/v#{spec.version}/lab/CHANGELOG.md",
    "documentation_uri" => "#{Carat::REPOSITORY}/blob/v#{spec.version}/lab/README.md",
    "bug_tracker_uri" => "#{Carat::REPOSITORY}/issues",
    "rubygems_mfa_required" => "true"
  }

  spec.files = Dir.chdir(__dir__) do
    Dir["{lib,docs}/**/*", "ext/**/*.rb", "crate/Cargo.{lock,toml}", "crate/src/**/*.rs", "*.md", "LICENSE"]
      .select { |path| File.file?(path) }
  end
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/carat_lab/extconf.rb"]
  spec.extra_rdoc_files = ["README.md", "CHANGELOG.md"]

  # It uses parts of Carat that are not public.
  spec.add_runtime_dependency "carat", Carat::VERSION
end
