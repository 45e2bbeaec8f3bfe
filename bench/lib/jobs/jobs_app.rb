# frozen_string_literal: true

require "fileutils"
require_relative "../../../test/support/jobs_app"
require_relative "../../../test/support/new_rails_app"

module Bench
  # What `rails new` makes, with the jobs of Support::JobsApp for Solid Queue and, where it is installed, Sidekiq.
  module JobsApp
    HAS_SIDEKIQ = Gem::Specification.find_all_by_name("sidekiq", "~> 8.0").any?
    SIDEKIQ = {
      "app/jobs/entry_sidekiq_job.rb" => <<~'RUBY',
        class EntrySidekiqJob
          include Sidekiq::Job
          sidekiq_options retry: false
          def perform(number) = EntryJob.new.perform(number)
        end
      RUBY
      "config/initializers/sidekiq.rb" => <<~'RUBY'
        Sidekiq.logger.level = Logger::WARN
        redis = { url: "unix://#{ENV.fetch("REDIS_SOCKET", "none")}" }
        Sidekiq.configure_client { |config| config.redis = redis }
        Sidekiq.configure_server { |config| config.redis = redis }
      RUBY
    }.freeze

    # One sentence why there can be none, or nil.
    def self.obstacle = Support::NewRailsApp.obstacle

    # It is made once, and copied for each run.
    TEMPLATE = File.expand_path("../../../tmp/jobs-app-#{RUBY_VERSION}", __dir__)

    # Writes the application to a directory, with fifty posts, and further files by relative path.
    def self.write(directory, further = {})
      make(TEMPLATE) unless File.exist?(File.join(TEMPLATE, "made"))
      FileUtils.cp_r(File.join(TEMPLATE, "."), directory)
      write_files(directory, further)
    end

    def self.write_files(directory, files)
      files.each do |name, text|
        path = File.join(directory, name)
        FileUtils.mkdir_p(File.dirname(path))
        File.binwrite(path, text)
      end
    end

    def self.make(directory)
      files = Support::NewRailsApp.files.merge(Support::JobsApp::JOBS)
      files.merge!(SIDEKIQ, "Gemfile" => "#{files["Gemfile"]}gem \"sidekiq\"\n") if HAS_SIDEKIQ
      write_files(directory, files.except("Gemfile.lock", "app/jobs/title_job.rb", "app/models/post.rb"))
      File.write(File.join(directory, "app/models/post.rb"), "class Post < ApplicationRecord\nend\n")
      FileUtils.chmod("+x", Dir[File.join(directory, "bin/*")])
      FileUtils.mkdir_p(%w[tmp log].map { |name| File.join(directory, name) })
      run(directory, "bundle", "install", "--local", "--quiet")
      run(directory, "bin/rails", "runner", '50.times { |n| Post.create!(title: "Post #{n}") }')
      File.write(File.join(directory, "made"), "")
    end

    def self.run(directory, *command)
      env = { "RAILS_ENV" => "production", "SECRET_KEY_BASE" => "secret" * 10 }
      system(env, *command, chdir: directory, exception: true)
    end
    private_class_method :write_files, :make, :run
  end
end
