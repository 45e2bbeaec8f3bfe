# frozen_string_literal: true

require "rbconfig"

module Carat
  module Lab
    module Weigh
      # The gem that a file belongs to.
      class GemNames
        # The name for files of the application.
        APPLICATION = "(application)"

        # The name for Ruby's own library.
        RUBY = "(ruby)"

        # The name for the rest.
        OTHER = "(other)"

        GEM = %r{/gems/([^/]+)-\d[^/]*/}
        private_constant :GEM

        # `root` is the directory of the application; `specifications` are those of the loaded gems.
        def initialize(root, specifications: ::Gem.loaded_specs.values, ruby: RbConfig::CONFIG)
          @root = "#{root}/"
          @ruby = ruby.values_at("rubylibdir", "rubyarchdir").map { |directory| "#{directory}/" }
          @vendor = ruby.values_at("vendorarchdir", "vendorlibdir", "vendordir").map { |directory| "#{directory}/" }
          @specifications = specifications
          @directories = directories(specifications)
        end

        # Returns the name of the gem of the file at `path`.
        def of(path)
          directory, name = @directories.find { |candidate, _| path.start_with?(candidate) }
          return name if directory

          path[GEM, 1] || place(path)
        end

        private

        # The longest first: a gem may be in the directory of another.
        def directories(specifications)
          pairs = specifications.flat_map do |spec|
            [spec.full_gem_path, spec.extension_dir].map { |directory| ["#{directory}/", spec.name] }
          end
          pairs.sort_by { |directory, _| -directory.length }
        end

        def place(path)
          return RUBY if path.start_with?(*@ruby)

          vendor = @vendor.find { |directory| path.start_with?(directory) }
          return packaged(path.delete_prefix(vendor)) if vendor

          path.start_with?(@root) ? APPLICATION : OTHER
        end

        # Linux distributions install the files of all gems in one directory.
        def packaged(file)
          @packaged ||= @specifications.flat_map { |spec| spec.files.map { |name| [name, spec.name] } }.to_h
          @packaged["lib/#{file}"] || file[%r{\A[^/]+}].sub(/\.(rb|so)\z/, "")
        end
      end
    end
  end
end
