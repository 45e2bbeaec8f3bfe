# frozen_string_literal: true

require_relative "blog"
require_relative "blog_database"

use Rack::Head
use Rack::Static, urls: ["/blog.css", "/favicon.svg"], root: File.join(Blog::ROOT, "public")
run Blog.new(BlogDatabase.open(ENV.fetch("BLOG_DATA", File.join(Blog::ROOT, "tmp"))))
