# frozen_string_literal: true

require "fileutils"
require_relative "../../lab_error"

module Carat
  module Lab
    module Compare
      # One version of a gem for an application: through a copy of its Gemfile, or without Bundler by activating that
      # version first.
      class GemChoice
        # The files that Bundler reads.
        GEMFILES = { "Gemfile" => "Gemfile.lock", "gems.rb" => "gems.locked" }.freeze
        PRELUDE = "version.rb"
        private_constant :GEMFILES, :PRELUDE

        # `source` is the application's directory, and `files` one for own files; `env` is ENV or a Hash.
        def initialize(name, version, source, files, env)
          @name = name
          @version = version
          @source = source
          @files = files
          @env = env
        end

        # Writes the files, and returns environment variables.
        def environment
          FileUtils.mkdir_p(@files)
          gemfile = find
          gemfile ? bundle(gemfile) : activate
        end

        # Raises LabError unless the application has loaded this version; `loaded` is the one that it has.
        def check(loaded)
          return if loaded == @version

          state = loaded.to_s.empty? ? "the application does not load it" : "the application loads #{loaded}"
          raise LabError, "carat: --gem-version: #{@name} #{@version}: #{state}"
        end

        private

        def find
          named = @env["BUNDLE_GEMFILE"].to_s
          return File.expand_path(named, @source) unless named.empty?

          GEMFILES.keys.map { |name| File.join(@source, name) }.find { |path| File.file?(path) }
        end

        # The lock file keeps the other gems where they are.
        def bundle(gemfile)
          copy = File.join(@files, "Gemfile")
          File.write(copy, <<~RUBY)
            eval_gemfile #{gemfile.inspect}
            dependencies.reject! { |dependency| dependency.name == #{@name.inspect} }
            gem #{@name.inspect}, #{"= #{@version}".inspect}
          RUBY
          lock = GEMFILES[File.basename(gemfile)]
          lock = lock ? File.join(File.dirname(gemfile), lock) : "#{gemfile}.lock"
          FileUtils.cp(lock, "#{copy}.lock") if File.file?(lock)
          { "BUNDLE_GEMFILE" => copy, "BUNDLE_FROZEN" => "false", "BUNDLE_DEPLOYMENT" => "false" }
        end

        def activate
          prelude = File.join(@files, PRELUDE)
          remedy = "carat: --gem-version: #{@name} #{@version} is not installed: " \
                   "gem install #{@name} --version #{@version}"
          File.write(prelude, <<~RUBY)
            begin
              gem #{@name.inspect}, #{"= #{@version}".inspect}
            rescue Gem::MissingSpecError
              abort #{remedy.inspect}
            end
          RUBY
          { "RUBYOPT" => [@env["RUBYOPT"], "-r#{prelude}"].compact.join(" ") }
        end
      end
    end
  end
end
