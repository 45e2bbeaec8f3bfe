# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # Directories whose files are served, each below a prefix of the URL.
      class StaticDirectories
        PREFIX = %r{\A/(?:[^/.\0%?#][^/\0%?#]*(?:/[^/.\0%?#][^/\0%?#]*)*)?\z}
        CACHE_CONTROL = /\A[ -~]+\z/
        SETTINGS = %i[directory cache_control not_found].freeze
        private_constant :CACHE_CONTROL, :PREFIX, :SETTINGS

        # Reads one directory or several. A directory is a path, which is served at /; or text such as
        # `/assets=public/assets`; or a Hash of prefixes whose values are paths, or Hashes of `directory`,
        # `cache_control` and `not_found`. Without a `directory`, the prefix is a folder in a directory that was named
        # before. Returns an Array of Hashes. Raises InvalidValue.
        def parse(value)
          Array(value.is_a?(Hash) ? [value] : value).each_with_object([]) do |entry, directories|
            pairs(entry).each { |prefix, settings| directories << read(prefix, settings, directories) }
          end
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.empty? ? "none" : value.map { |it| "#{it[:prefix]}=#{it[:directory]}" }.join(", ")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "[PREFIX=]DIRECTORY"
        end

        private

        def pairs(entry)
          return entry if entry.is_a?(Hash)
          return [entry.split("=", 2)] if entry.is_a?(String) && entry.match?(%r{\A/[^=]*=})

          [["/", entry]]
        end

        def read(prefix, settings, earlier)
          settings = { directory: settings } unless settings.is_a?(Hash)
          refuse_unknown(prefix, settings)
          prefix = prefix(prefix)
          { prefix: prefix, directory: directory(prefix, settings[:directory], earlier),
            cache_control: cache_control(settings[:cache_control]), not_found: page(settings[:not_found]) }
        end

        def refuse_unknown(prefix, settings)
          unknown = settings.keys - SETTINGS
          return if unknown.empty?

          raise InvalidValue, "#{prefix}: #{unknown.first.inspect} is none of #{SETTINGS.join(", ")}"
        end

        def prefix(value)
          prefix = value.to_s == "/" ? "/" : value.to_s.delete_suffix("/")
          return prefix if PREFIX.match?(prefix)

          raise InvalidValue, "#{value.inspect} is not the beginning of a path such as /assets"
        end

        def directory(prefix, path, earlier)
          path ||= below(prefix, earlier)
          path = Type.absolute_path(path)
          raise InvalidValue, "there is no directory #{path}" unless File.directory?(path)
          raise InvalidValue, "#{path} cannot be read" unless File.readable?(path) && File.executable?(path)

          path
        end

        # The folder of a prefix within a directory that was named before.
        def below(prefix, earlier)
          outer = earlier.reverse.find { |it| it[:prefix] == "/" || prefix.start_with?("#{it[:prefix]}/") }
          raise InvalidValue, "#{prefix}: name a directory" unless outer

          File.join(outer[:directory], prefix.delete_prefix(outer[:prefix]))
        end

        def cache_control(value)
          return value if value.nil? || (value.is_a?(String) && CACHE_CONTROL.match?(value))

          raise InvalidValue, "#{value.inspect} is not a value of Cache-Control such as max-age=3600"
        end

        def page(value)
          return value if value.nil? || (value.is_a?(String) && PREFIX.match?("/#{value}"))

          raise InvalidValue, "#{value.inspect} is not the name of a page such as 404.html"
        end
      end
    end
  end
end
