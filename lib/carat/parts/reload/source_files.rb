# frozen_string_literal: true

require "rbconfig"

module Carat
  module Parts
    module Reload
      # The files of the application's code, for the option `reload`. For a Rails application that reloads its code
      # itself, only the files that Rails does not reload.
      class SourceFiles
        # Directories of the application without code, or with code that serves no request.
        ASIDE = %w[log tmp db vendor coverage spec test public storage].freeze

        # Directories of a Rails application with code that Rails does not reload.
        RAILS = %w[config lib].freeze

        # Files outside of these directories that Rails does not reload.
        RAILS_FILES = %w[Gemfile Gemfile.lock .env].freeze

        # The most files outside of the directories that are watched, such as the code of a gem with a `path` in the
        # Gemfile.
        FILES_LIMIT = 2000

        # The directory of Carat's own code.
        OURS = File.expand_path("../../..", __dir__)
        private_constant :ASIDE, :RAILS, :RAILS_FILES, :FILES_LIMIT, :OURS

        # `rackup` and `config` are the paths of the rackup file and of the config file; `config` may be nil. The
        # application's directory is `directory` if the rackup file is inside of it, otherwise the folder of the rackup
        # file.
        def initialize(rackup, config, directory: Dir.pwd)
          @named = [rackup, config].compact.filter_map { |path| real(path) }
          directory, folder = [directory, File.dirname(rackup)].map { |path| real(path) || path }
          @root = inside?(folder, directory) && !everything?(directory) ? directory : folder
        end

        # Returns the files that are known before the application is loaded, a Hash of paths for the edge.
        def before_load
          describe(trees, ASIDE, @named).merge(complete: false)
        end

        # Returns the files that are known once the application is loaded, a Hash of paths for the edge.
        def loaded
          rails = reloading_rails
          sources = rails ? rails_sources(rails) : describe(trees, ASIDE, @named + features(trees, libraries))
          sources.merge(complete: true)
        end

        private

        def trees
          everything?(@root) ? [] : [@root]
        end

        # Whether the directory holds much more than an application, as a home directory does.
        def everything?(directory)
          ["/", ENV.fetch("HOME", "/")].include?(directory)
        end

        def rails_sources(application)
          trees = RAILS.map { |name| File.join(@root, name) }.select { |path| File.directory?(path) }
          reloaded = reloaded_by(application)
          files = @named + RAILS_FILES.filter_map { |name| real(File.join(@root, name)) }
          describe(trees, reloaded, files + features(trees, libraries + reloaded))
        end

        # Makes the Hash for the edge. Leaves out paths that are not valid UTF-8, which JSON cannot contain.
        def describe(trees, except, files)
          except = except.map { |path| File.expand_path(path, @root) }
          { trees:, except:, files: files.uniq.first(FILES_LIMIT) }
            .transform_values { |paths| paths.map { |path| utf8(path) }.select(&:valid_encoding?) }
        end

        def utf8(path)
          path.dup.force_encoding(Encoding::UTF_8)
        end

        # The loaded files that are neither in `trees` nor in the directories `apart`. A file in a tree counts by its
        # real path, because the tree may contain a link to a directory elsewhere.
        def features(trees, apart)
          loaded = $LOADED_FEATURES.select { |path| path.end_with?(".rb") && path.start_with?("/") }
          ours = loaded.reject { |path| among?(path, apart) }
          ours.map { |path| among?(path, trees) ? real(path) || path : path }.reject { |path| among?(path, trees) }
        end

        def among?(path, directories)
          directories.any? { |directory| inside?(path, directory) }
        end

        # The directories of installed code, which nobody edits.
        def libraries
          names = %w[rubylibdir rubyarchdir sitedir vendordir]
          installed = RbConfig::CONFIG.values_at(*names).compact
          gems = defined?(::Gem.path) ? ::Gem.path : []
          [OURS, *installed, *gems, "/usr/share", "/usr/lib"]
        end

        # The Rails application if it reloads its code, or nil.
        def reloading_rails
          application = ::Rails.application if defined?(::Rails.application)
          application if application&.initialized? && !application.config.cache_classes
        end

        # The files and directories whose changes Rails notices itself.
        def reloaded_by(application)
          routes = application.routes_reloader.paths
          translations = defined?(::I18n) ? ::I18n.load_path : []
          folders = %w[config/routes config/locales].map { |name| File.join(@root, name) }
          (autoloaded + routes + translations + folders).map(&:to_s).select { |path| inside?(path, @root) }.uniq
        end

        def autoloaded
          defined?(::Rails.autoloaders.main.dirs) ? ::Rails.autoloaders.main.dirs : []
        end

        def inside?(path, directory)
          path == directory || path.start_with?("#{directory}/")
        end

        def real(path)
          File.realpath(path)
        rescue SystemCallError
          nil
        end
      end
    end
  end
end
