# frozen_string_literal: true

require "fileutils"
require "sequel"

# The SQLite database of the blog: one file, opened by as many threads and processes as there are.
module BlogDatabase
  # Connections of one process, opened when they are needed. A query does not give way to another thread or fiber, so
  # that few of them ever are.
  CONNECTIONS = 32
  # How long a writer waits for another one.
  BUSY_MILLISECONDS = 5000
  # Readers and a writer do not wait for each other; a committed comment survives the process, though perhaps not a
  # power cut, which loses the last ones and breaks nothing.
  PRAGMAS = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"].freeze

  # A connection then belongs to a fiber where it would belong to a thread; for threads it makes no difference.
  Sequel.extension :fiber_concurrency

  # Opens blog.sqlite3 in the directory, which is made with its first articles when it is not there.
  # @return [Sequel::Database]
  def self.open(directory)
    FileUtils.mkdir_p(directory)
    database = Sequel.sqlite(File.join(directory, "blog.sqlite3"), max_connections: CONNECTIONS,
                                                                   timeout: BUSY_MILLISECONDS, connect_sqls: PRAGMAS)
    # One process of several that start at once makes the tables; the others wait for it and find them.
    database.transaction(mode: :immediate) { create(database) } unless database.table_exists?(:articles)
    # A connection must not be carried over a fork.
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
