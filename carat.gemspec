# frozen_string_literal: true

require_relative "lib/carat/version"

Gem::Specification.new do |spec|
  spec.name = "carat"
  spec.version = Carat::VERSION
  spec.authors = ["The Carat authors"]
  spec.summary = "An application server for Ruby (Rack) that weighs every byte"
  spec.description = <<~TEXT
    Carat serves Rack applications. A Rust process owns the client connections, reads requests, and writes uploads to
    unlinked files; Ruby processes only run the application. Carat compiles during installation, and needs Ruby's
    headers, cargo, and libclang.
  TEXT
  spec.licenses = ["MIT"]
  spec.required_ruby_version = ">= 3.1"
  spec.platform = Gem::Platform::RUBY
  spec.homepage = Carat::REPOSITORY
  spec.metadata = {
    "source_code_uri" => "#{Carat::REPOSITORY}/tree/v#{spec.version}",
    "changelog_uri" => "#{Carat::REPOSITORY}/blob/v#{spec.version}/CHANGELOG.md",
    "documentation_uri" => "#{Carat::REPOSITORY}/blob/v#{spec.version}/docs/README.md",
    "bug_tracker_uri" => "#{Carat::REPOSITORY}/issues",
    "rubygems_mfa_required" => "true"
  }

  spec.files = Dir.chdir(__dir__) do
    Dir["{lib,docs,share}/**/*", "exe/*", "ext/carat/*.rb", "crates/**/*.{css,html,js,ld,map,rs,toml}",
        "Cargo.{toml,lock}", ".cargo/config.toml", "clippy.toml", "README.md", "LICENSE", "CHANGELOG.md"]
      .select { |path| File.file?(path) && !path.match?(%r{\A(docs/(benchmarks|images)|crates/[^/]+/tests)/}) }
  end
  spec.bindir = "exe"
  spec.executables = ["carat"]
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/carat/extconf.rb"]
  spec.extra_rdoc_files = ["README.md", "CHANGELOG.md"]

  spec.add_runtime_dependency "rack", ">= 2.2"
end
