# frozen_string_literal: true

require "yaml"

# The articles and comments of a new blog, from articles.yml.
module Seed
  FILE = File.join(__dir__, "articles.yml")

  def self.plant(database)
    YAML.safe_load_file(FILE, permitted_classes: [Time]).each do |article|
      id = database[:articles].insert(slug: article.fetch("slug"), title: article.fetch("title"),
                                      summary: article.fetch("summary").strip, text: article.fetch("text").strip,
                                      published_at: article.fetch("published_at").to_i)
      article.fetch("comments", []).each { |comment| add_comment(database, id, comment) }
    end
  end

  def self.add_comment(database, article_id, comment)
    database[:comments].insert(article_id: article_id, name: comment.fetch("name"), text: comment.fetch("text").strip,
                               written_at: comment.fetch("written_at").to_i)
  end

  private_class_method :add_comment
end
