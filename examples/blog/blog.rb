# frozen_string_literal: true

require "rack"
require_relative "articles"
require_relative "comment_form"
require_relative "page"

# The application: maps requests to pages.
class Blog
  ROOT = __dir__
  ARTICLE = %r{\A/articles/([a-z0-9-]{1,80})\z}
  COMMENTS = %r{\A/articles/([a-z0-9-]{1,80})/comments\z}
  # Comments are escaped; this policy is the second line of defense against scripts in them.
  HTML = { "content-type" => "text/html; charset=utf-8", "x-content-type-options" => "nosniff",
           "content-security-policy" => "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " \
                                        "base-uri 'none'; frame-ancestors 'none'" }.freeze
  ATOM = { "content-type" => "application/atom+xml; charset=utf-8" }.freeze

  # @param database [Sequel::Database]
  def initialize(database)
    @articles = Articles.new(database)
  end

  def call(env)
    case env["REQUEST_METHOD"]
    when "GET", "HEAD" then show(env["PATH_INFO"], env)
    when "POST" then comment(env["PATH_INFO"], env)
    else page(405, :problem, { title: "This page does not support that method" }, "allow" => "GET, HEAD, POST")
    end
  end

  private

  def show(path, env)
    case path
    when "/" then page(200, :index, { title: nil, articles: @articles.all })
    when "/feed.atom" then feed(Rack::Request.new(env).base_url)
    when ARTICLE then article(path[ARTICLE, 1])
    else missing
    end
  end

  def article(slug)
    article = @articles.find(slug)
    article ? article_page(200, article, CommentForm.new) : missing
  end

  def comment(path, env)
    article = COMMENTS.match?(path) && @articles.find(path[COMMENTS, 1])
    return missing unless article

    form = CommentForm.read(env["rack.input"])
    problems = form.problems
    return article_page(422, article, form, problems) if problems.any?

    number = @articles.comment(article, form)
    [303, { "location" => "/articles/#{article[:slug]}#comment-#{number}" }, []]
  rescue CommentForm::Malformed
    page(400, :problem, { title: "The form could not be read" })
  end

  def article_page(status, article, form, problems = {})
    page(status, :article, { title: article[:title], article: article, comments: @articles.comments(article),
                             form: form, problems: problems })
  end

  def missing
    page(404, :problem, { title: "There is nothing here" })
  end

  def page(status, name, locals, headers = {})
    [status, HTML.merge(headers), [Page.render(name, locals)]]
  end

  def feed(base)
    [200, ATOM.dup, [Page.new.partial(:feed, base: base, articles: @articles.all)]]
  end
end
