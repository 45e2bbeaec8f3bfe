# frozen_string_literal: true

# About 40 MB of Ruby objects, mixed as in real applications, which workers share until one writes to them.
module Stock
  # Numbers of translations, articles, routes, and classes; each entry has a realistic size.
  TRANSLATIONS = 60_000
  ARTICLES = 40_000
  ROUTES = 8_000
  MODELS = 300

  Article = Struct.new(:id, :title, :tags, :price, :attributes)

  module_function

  # Texts by language and key, most of them too long to fit in their slots.
  def translations
    %w[en de fr].to_h do |language|
      [language, Array.new(TRANSLATIONS / 3) { |n| ["#{language}.page.#{n}.title", sentence(n)] }.to_h]
    end
  end

  def articles
    tags = Array.new(50) { |n| "tag_#{n}" }
    Array.new(ARTICLES) do |n|
      attributes = { name: "Article #{n}", stock: n % 97, weight: n / 7.0, sku: format("SKU-%08d", n), new: n.even? }
      Article.new(n, sentence(n), tags.values_at(n % 50, n % 49, n % 47), n * 1.19, attributes)
    end
  end

  def routes
    Array.new(ROUTES) { |n| [/\A\/section_#{n}\/(?<id>\d+)\z/, :"section_#{n}_path", { controller: "section_#{n}" }] }
  end

  # Classes with constants and methods, like a library's.
  def models
    Array.new(MODELS) do |n|
      const_set(:"Model#{n}", Class.new do
        const_set(:FIELDS, Array.new(12) { |field| :"model_#{n}_field_#{field}" }.freeze)
        attr_accessor(*self::FIELDS)
      end)
    end
  end

  def sentence(number)
    "#{%w[Swifts Kettles Maps Loaves Lamps][number % 5]} number #{number} that somebody wants to read about at night"
  end

  ALL = [translations, articles, routes, models].freeze
end
