# frozen_string_literal: true

module Carat
  module Processes
    # Says which files of the application have changed since the mold loaded it: a console has the code of that time.
    class ChangedCode
      # The files that Rails and Bundler read without `require`.
      READ = ["config.ru", "config/**/*.{rb,yml}"].freeze
      LOCKFILE = "Gemfile.lock"
      UNITS = { "day" => 86_400, "hour" => 3600, "minute" => 60, "second" => 1 }.freeze
      private_constant :LOCKFILE, :READ, :UNITS

      # Notes the time. Create the object when the mold begins to load the application.
      def initialize(directory: Dir.pwd)
        @loaded_at = Time.now
        @directory = directory
        @lockfile = lockfile
      end

      # Prints one line if a file has changed.
      def report(out = $stderr)
        files = changed
        return if files.empty?

        name = files.first.delete_prefix("#{@directory}/")
        name = "#{name} and #{files.size - 1} more" if files.size > 1
        out.puts("carat: the code is #{age} old, and #{name} changed since; carat restart loads it")
      end

      private

      def changed
        read = READ.flat_map { |pattern| Dir.glob(pattern, base: @directory) }
        read = read.map { |name| File.join(@directory, name) }
        lock = File.join(@directory, LOCKFILE) unless lockfile == @lockfile
        [*(required + read).uniq.select { |path| changed?(path) }, *lock]
      end

      # A hash of the lockfile's content, which is the same in forked processes. Its time says nothing: Bundler may
      # write an equal file again while the application is loaded.
      def lockfile
        File.binread(File.join(@directory, LOCKFILE)).hash
      rescue SystemCallError
        nil
      end

      def required
        installed = defined?(::Gem.path) ? ::Gem.path.map { |path| "#{path}/" } : []
        $LOADED_FEATURES.select { |path| path.start_with?("#{@directory}/") && !path.start_with?(*installed) }
      end

      # Whether the file has changed, by the time of its inode: a deployment copies files with their old modification
      # times.
      def changed?(path)
        File.stat(path).ctime > @loaded_at
      rescue SystemCallError
        true # the file has been removed
      end

      def age
        seconds = (Time.now - @loaded_at).to_i
        unit, length = UNITS.find { |_unit, length| seconds >= length } || ["second", 1]
        number = seconds / length
        "#{number} #{unit}#{"s" unless number == 1}"
      end
    end
  end
end
