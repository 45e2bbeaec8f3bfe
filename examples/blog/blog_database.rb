# frozen_string_literal: true

require "fileutils"
require "sequel"

# The blog's SQLite database: one file, shared by all threads and processes.
module BlogDatabase
  # Connections per process, opened on demand. A query holds the GVL, so few are ever in use.
  CONNECTIONS = 32
  # How long a writer waits for another one.
  BUSY_MILLISECONDS = 5000
  # Readers and a writer do not wait for each other. A committed comment survives a crash of the process; a power cut
  # may lose the last ones, but corrupts nothing.
  PRAGMAS = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"].freeze

  # A connection belongs to a fiber instead of a thread; threads are unaffected.
  Sequel.extension :fiber_concurrency

  # Opens blog.sqlite3 in the directory, and creates it with its first articles when it is missing.
  # @return [Sequel::Database]
  def self.open(directory)
    FileUtils.mkdir_p(directory)
    database = Sequel.sqlite(File.join(directory, "blog.sqlite3"), max_connections: CONNECTIONS,
                                                                   timeout: BUSY_MILLISECONDS, connect_sqls: PRAGMAS)
    # When several processes start at once, one creates the tables, and the others wait for it.
    database.transaction(mode: :immediate) { create(database) } unless database.table_exists?(:articles)
    # A connection must not survive a fork.
    database.disconnect
    database
  end

  def self.create(database)
    return if database.table_exists?(:articles)

    create_articles(database)
    create_comments(database)
    require_relative "seed"
    Seed.plant(database)
  end

  # Times are seconds since the epoch.
  def self.create_articles(database)
    database.create_table(:articles) do
      primary_key :id
      String :slug, null: false, unique: true
      String :title, null: false
      String :summary, null: false
      String :text, null: false
      Integer :published_at, null: false, index: true
    end
  end

  def self.create_comments(database)
    database.create_table(:comments) do
      primary_key :id
      foreign_key :article_id, :articles, null: false, index: true
      String :name, null: false
      String :text, null: false
      Integer :written_at, null: false
    end
  end

  private_class_method :create, :create_articles, :create_comments
end
