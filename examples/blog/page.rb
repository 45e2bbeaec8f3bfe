# frozen_string_literal: true

require "tilt"
require "tilt/erubi"

# Renders the templates of views/. Erubi escapes what <%= prints; <%== prints HTML as it is.
class Page
  TEMPLATES = Dir[File.join(__dir__, "views", "*.erb")].to_h do |path|
    [File.basename(path, ".erb").to_sym, Tilt::ErubiTemplate.new(path, escape_html: true, freeze: true)]
  end.freeze

  # Renders the template inside the layout.
  # @param locals [Hash{Symbol => Object}] for both; `title: nil` stands for the blog's own title
  def self.render(name, locals)
    page = new
    page.partial(:layout, title: locals[:title], content: page.partial(name, locals))
  end

  def partial(name, locals)
    TEMPLATES.fetch(name).render(self, locals)
  end

  # @param seconds [Integer] since the epoch
  def day(seconds)
    Time.at(seconds).utc.strftime("%-d %B %Y")
  end

  def timestamp(seconds)
    Time.at(seconds).utc.strftime("%FT%TZ")
  end

  # Splits text at empty lines.
  def paragraphs(text)
    text.split(/\n{2,}/)
  end

  def count(number, noun)
    number == 1 ? "1 #{noun}" : "#{number} #{noun}s"
  end
end
