# frozen_string_literal: true

# The articles and their comments in the database. Each statement is prepared once per connection, and input from
# clients is always a parameter.
class Articles
  # The most that one page shows.
  ARTICLES_LIMIT = 50
  COMMENTS_LIMIT = 200

  # @param database [Sequel::Database]
  def initialize(database)
    @all = prepare_all(database)
    @find = database[:articles].where(slug: :$slug).prepare(:first, :find_article)
    @comments = database[:comments].where(article_id: :$article_id).reverse(:id).limit(COMMENTS_LIMIT)
                                   .prepare(:select, :comments_of_article)
    @comment = database[:comments].prepare(:insert, :add_comment, article_id: :$article_id, name: :$name, text: :$text,
                                                                  written_at: :$written_at)
  end

  # The articles, newest first, each with its number of :comments.
  # @return [Array<Hash>]
  def all
    @all.call
  end

  # @return [Hash, nil]
  def find(slug)
    # SQLite compares binary Strings as blobs, and paths are binary.
    @find.call(slug: slug.encode(Encoding::UTF_8))
  end

  # The latest comments on the article, oldest first.
  # @return [Array<Hash>]
  def comments(article)
    @comments.call(article_id: article[:id]).reverse
  end

  # @return [Integer] id of the new comment
  def comment(article, form)
    @comment.call(article_id: article[:id], name: form.name, text: form.text, written_at: Time.now.to_i)
  end

  private

  def prepare_all(database)
    comments = database[:comments].where(article_id: Sequel[:articles][:id]).select { count.function.* }
    database[:articles].select_all(:articles).select_append(comments.as(:comments))
                       .reverse(:published_at).limit(ARTICLES_LIMIT).prepare(:select, :all_articles)
  end
end
