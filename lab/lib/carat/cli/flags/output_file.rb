# frozen_string_literal: true

require "carat/config/config_error"
require_relative "../../lab/lab_error"

module Carat
  module CLI
    # Where `--html`, or another flag, also writes the report.
    class OutputFile
      # Adds a flag to an OptionParser, and yields the OutputFile when it is given.
      def self.flag(parser, flag = "--html", summary = "Also write a page with plots")
        parser.on("#{flag} FILE", summary) { |path| yield new(path, flag) }
      end

      # Raises ConfigError when the file could not be written, so that no measurement is lost.
      def initialize(path, flag = "--html")
        @path = path
        problem = obstacle
        raise Config::ConfigError, "#{flag}: #{path}: #{problem}" if problem
      end

      # Writes the report, a Lab::Html::Page or another object with text. Raises LabError.
      def write(report)
        File.binwrite(@path, report.to_s)
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
