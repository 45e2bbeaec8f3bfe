# frozen_string_literal: true

require "tilt"
require "tilt/erubi"

# What the templates of views/ are rendered in. Erubi escapes whatever <%= prints; <%== is for what is HTML already.
class Page
  TEMPLATES = Dir[File.join(__dir__, "views", "*.erb")].to_h do |path|
    [File.basename(path, ".erb").to_sym, Tilt::ErubiTemplate.new(path, escape_html: true, freeze: true)]
  end.freeze

  # The template of this name inside the layout.
  # @param locals [Hash{Symbol => Object}] for both; title: nil for the blog's own
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

  # Pieces of text that an empty line parts.
  def paragraphs(text)
    text.split(/\n{2,}/)
  end

  def count(number, noun)
    number == 1 ? "1 #{noun}" : "#{number} #{noun}s"
  end
end
