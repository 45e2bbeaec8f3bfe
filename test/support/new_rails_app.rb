# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

module Support
  # What `rails new` makes from the installed gems, with a scaffold, a broadcast, and a job, its assets, and its
  # databases. Left out are the gems that need the network: Kamal, Thruster, image_processing, web-console, linters, and
  # those of system tests.
  module NewRailsApp
    GEMS = %w[propshaft sqlite3 importmap-rails turbo-rails stimulus-rails jbuilder solid_cache solid_queue solid_cable
              bootsnap puma].freeze
    INSTALLED = %w[importmap turbo stimulus solid_cache solid_queue solid_cable].map { |name| "#{name}:install" }.freeze
    # Contents by relative path, in place of what the generators have made.
    CHANGES = {
      "app/models/post.rb" => <<~RUBY,
        class Post < ApplicationRecord
          broadcasts_to ->(_post) { "posts" }
          after_create_commit -> { TitleJob.perform_later(self) }
        end
      RUBY
      "app/jobs/title_job.rb" => <<~RUBY,
        class TitleJob < ApplicationJob
          def perform(post) = Rails.root.join("tmp/job").write(post.title)
        end
      RUBY
      # Ruby 4.0 cannot load net-imap 0.5, which Mail loads when it is not there.
      "config/initializers/imap.rb" => "require \"net/protocol\"\nNet.const_set(:IMAP, Class.new)\n"
    }.freeze

    class << self
      # Why there can be none, or nil.
      def obstacle
        missing = GEMS.reject { |name| Gem::Specification.find_all_by_name(name).any? }
        missing.unshift("rails:8.1") if Gem::Specification.find_all_by_name("rails", ">= 8.1").empty?
        "the application needs more gems: gem install #{missing.join(" ")}" if missing.any?
      end

      # Contents by relative path, made once.
      def files
        @files ||= Dir.mktmpdir { |directory| make(directory) }
      end

      private

      def make(directory)
        run(directory, RbConfig.ruby, "-rlogger", "-e", "require \"rails\"; require \"rails/cli\"",
            "new", "blog", "--skip-git", "--skip-bundle")
        @root = File.join(directory, "blog")
        change("Gemfile") { |text| text.lines.grep(/^source|^ *gem "(rails|#{GEMS.join("|")})"/).join }
        run(@root, "bundle", "install", "--local", "--quiet")
        rails(*INSTALLED)
        rails("generate", "scaffold", "post", "title:string")
        CHANGES.each { |name, text| File.write(File.join(@root, name), text) }
        change("app/views/posts/index.html.erb") { |text| "<%= turbo_stream_from \"posts\" %>\n#{text}" }
        %w[assets:precompile db:prepare].each { |task| rails(task, env: { "RAILS_ENV" => "production" }) }
        rails("db:prepare")
        read
      end

      def rails(*words, env: {})
        run(@root, RbConfig.ruby, "bin/rails", *words, env:)
      end

      def run(directory, *command, env: {})
        output, status = Open3.capture2e(env, *command, chdir: directory)
        raise "#{command.join(" ")}: #{output}" unless status.success?
      end

      def change(name)
        path = File.join(@root, name)
        File.write(path, yield(File.read(path)))
      end

      def read
        names = Dir.glob("**/*", File::FNM_DOTMATCH, base: @root).grep_v(%r{\A(tmp/cache|log|node_modules)/})
        paths = names.to_h { |name| [name, File.join(@root, name)] }
        paths.select { |_, path| File.file?(path) }.transform_values { |path| File.binread(path) }
      end
    end
  end
end
