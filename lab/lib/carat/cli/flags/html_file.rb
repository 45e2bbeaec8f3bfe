# frozen_string_literal: true

require "carat/config/config_error"
require_relative "../../lab/lab_error"

module Carat
  module CLI
    # Where `--html` writes its page.
    class HtmlFile
      # Adds the flag to an OptionParser, and yields the HtmlFile when it is given.
      def self.flag(parser)
        parser.on("--html FILE", "Also write a page with plots") { |path| yield new(path) }
      end

      # Raises ConfigError when the file could not be written, so that no measurement is lost.
      def initialize(path)
        @path = path
        problem = obstacle
        raise Config::ConfigError, "--html: #{path}: #{problem}" if problem
      end

      # Writes the page, a Lab::Html::Page. Raises LabError.
      def write(page)
        File.write(@path, page.to_s)
        warn("carat: #{@path}: written")
      rescue SystemCallError => e
        raise Lab::LabError, "carat: #{@path}: #{e.message}"
      end

      private

      def obstacle
        directory = File.dirname(@path)
        return "is a directory" if File.directory?(@path)
        return ("cannot be written" unless File.writable?(@path)) if File.exist?(@path)
        return "there is no directory #{directory}" unless File.directory?(directory)

        "the directory cannot be written" unless File.writable?(directory)
      end
    end
  end
end
