# frozen_string_literal: true

require_relative "rust_source"

module Suite
  # The modules of one crate, and which file imports which.
  class RustModules
    FOLDER = %r{^(?:pub(?:\([^)]*\))? )?mod (?<name>\w+) \{\n(?<text>    //!.*?)^\}\n}m

    # One file that uses another; both are relative to the crate's src.
    Import = Struct.new(:from, :to, :line, :path)

    # @param src [String] the crate's src folder, or a folder in it
    # @param module_name [String, nil] the module whose folder it is
    def initialize(src, module_name = nil)
      @src = src
      @prefix = [*module_name]
      sources = texts.transform_values { |text| RustSource.new(text) }
      tests = sources.flat_map { |file, source| source.test_modules.map { |name| [*module_of(file), name] } }
      @sources = sources.reject { |file, _source| tests.any? { |test| module_of(file).first(test.size) == test } }
      @files = @sources.keys.to_h { |file| [module_of(file), file] }
    end

    # @return [Array<Import>]
    def imports
      @sources.flat_map do |file, source|
        source.paths.filter_map { |path| import(file, path) unless re_export?(file, path) }
      end.uniq { |import| [import.from, import.to] }
    end

    private

    # The text of each file, and of each folder that its parent declares in braces, as that of the folder's mod.rs.
    def texts
      files = Dir["#{@src}/**/*.rs"].sort.map { |path| path.delete_prefix("#{@src}/") }
      files.each_with_object({}) do |file, found|
        found[file] = File.read(File.join(@src, file)).gsub(FOLDER) do
          folder, text = Regexp.last_match.values_at(:name, :text)
          found[[*module_of(file), folder, "mod.rs"].join("/")] = text.gsub(/^ {4}/, "")
          "\n" * Regexp.last_match[0].count("\n")
        end
      end
    end

    def import(file, path)
      found = target(module_of(file), path.segments)
      Import.new(file, found, path.line, path.to_s) if found && found != file
    end

    # A module's file that hands on what its children declare does not use them.
    def re_export?(file, path)
      path.public && module?(file)
    end

    def module?(file)
      %w[mod.rs lib.rs main.rs].include?(File.basename(file))
    end

    def module_of(file)
      names = file.delete_suffix(".rs").split("/")
      %w[mod lib main].include?(names.last) ? names[0..-2] : names
    end

    # The file that declares what this path names, as seen from a module; nil outside of the crate.
    def target(from, segments)
      first, *rest = segments
      case first
      when "crate" then declared([], rest.drop(@prefix.size)) if rest.first(@prefix.size) == @prefix
      when "self" then declared(from, rest)
      when "super" then above(from[0..-2], rest)
      else declared(from, segments) if @files.key?([*from, first])
      end
    end

    def above(from, segments)
      segments.first == "super" ? above(from[0..-2], segments.drop(1)) : declared(from, segments)
    end

    def declared(from, segments)
      return declared([*from, segments.first], segments.drop(1)) if @files.key?([*from, segments.first])
      return @files[from] unless segments.first

      re_exported(from, segments.first) || @files[from]
    end

    def re_exported(from, name)
      source = @sources[@files[from]]
      path = source&.paths&.find { |candidate| candidate.public && candidate.segments.last == name }
      path && target(from, path.segments)
    end
  end
end
