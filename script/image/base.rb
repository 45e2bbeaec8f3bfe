# frozen_string_literal: true

require "fileutils"
require_relative "gem_directory"

module Image
  # What stands for the image `ruby`: a copy of a root file system, with a directory of gems and an application.
  class Base
    APPLICATION = "srv/app"
    # What the image `ruby` sets.
    VARIABLES = { "PATH" => "/usr/local/bundle/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                  "LANG" => "C.UTF-8" }.freeze
    # How cargo and others reach their mirrors, and profiles of cargo.
    OUTSIDE = /\A(?:CARGO_(?:NET|HTTP|REGISTRIES|SOURCE|PROFILE)_\w+|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)\z/
    # What Ruby itself has installed; the image `ruby` has no other programs.
    PROGRAMS = %w[bundle bundler erb gem ruby].freeze
    private_constant :APPLICATION, :VARIABLES, :OUTSIDE, :PROGRAMS

    # @param root [String] a root file system
    # @param directory [String] where the copy is to be
    def initialize(root, directory)
      @directory = directory
      run("cp", "-a", "--reflink=auto", root, directory)
    end

    # The application, which is the context of the image.
    def application = File.join(@directory, APPLICATION)

    # Adds a Ruby, without gems that were installed into it.
    def add_ruby(prefix)
      %w[bin lib include].each { |name| run("cp", "-a", File.join(prefix, name), File.join(@directory, "usr/local")) }
      programs = Dir.children(File.join(@directory, "usr/local/bin")) - PROGRAMS
      FileUtils.rm(programs.map { |name| File.join(@directory, "usr/local/bin", name) })
      remove_gems
    end

    # Makes the directory of gems the mirror of RubyGems, and writes Gemfile.lock.
    # carat: a gem of Carat, or nil for this checkout's; gems: the others' paths, or nil for the Rack of the root
    def add_gems(carat, gems = nil)
      gem_directory = GemDirectory.new(@directory)
      gem_directory.fill(carat, gems)
      FileUtils.rm_f(File.join(application, "Gemfile.lock"))
      gem_directory.lock("/#{APPLICATION}")
    end

    # Makes it an image.
    def import(tag, further = {})
      variables = VARIABLES.merge(ENV.select { |name, _| OUTSIDE.match?(name) }, further)
      changes = variables.flat_map { |name, value| ["--change", "ENV #{name}=\"#{value}\""] }
      IO.popen(["tar", "--create", "--directory", @directory, "."], "rb") do |archive|
        system("docker", "import", *changes, "-", tag, in: archive, exception: true)
      end
    end

    private

    def remove_gems
      Dir[File.join(@directory, "usr/local/lib/ruby/gems/*")].each do |folder|
        default = Dir[File.join(folder, "specifications/default/*")].map { |file| File.basename(file, ".gemspec") }
        FileUtils.rm(Dir[File.join(folder, "specifications/*.gemspec")])
        gone = Dir.children(File.join(folder, "gems")) - default
        FileUtils.rm_r(gone.map { |name| File.join(folder, "gems", name) })
        FileUtils.rm_r(Dir[File.join(folder, "{extensions,doc,cache,plugins,build_info}")])
      end
    end

    def run(*command) = system(*command, exception: true)
  end
end
