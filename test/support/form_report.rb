# frozen_string_literal: true

require "digest"
require "json"
require "rack"

module Support
  # What Rack makes of a request's form, in a way that can be compared: params, files with their content, errors.
  module FormReport
    # An application that answers with the report as JSON, and names the classes of the files in a header.
    APP = <<~RUBY
      require #{__FILE__.dump}
      run ->(env) { Support::FormReport.answer(env) }
    RUBY

    NAMES = %i[filename name].freeze

    module_function

    def answer(env)
      classes = []
      report = JSON.generate(of(env, classes))
      [200, { "content-type" => "application/json", "x-files" => classes.join(" ") }, [report]]
    end

    def of(env, classes = [])
      { params: describe(Rack::Request.new(env).POST, classes) }
    rescue StandardError => e
      { error: [e.class.name, e.message.b.dump] }
    end

    def describe(value, classes)
      case value
      when Hash then value.map { |key, member| member(key, member, classes) }
      when Array then [:array, *value.map { |member| describe(member, classes) }]
      when String then text(value)
      when nil, Symbol then value.inspect
      else file(value, classes)
      end
    end

    def member(key, member, classes)
      [name(key), NAMES.include?(key) ? name(member) : describe(member, classes)]
    end

    # A name in percent-encoding is UTF-8 to Rack, and valid, when all that it has read of the body is ASCII, and binary
    # otherwise, whatever comes out of the percent signs.
    def name(name)
      name.to_s.dup.force_encoding(Encoding::UTF_8).scrub.dump
    end

    # The same goes for every text of ASCII bytes.
    def text(string)
      [string.b.dump, (string.encoding.name unless string.ascii_only?)]
    end

    def file(file, classes)
      raise "#{file.class} is no Tempfile" unless file.is_a?(Tempfile)

      classes << file.class
      content = file.read
      [:file, content.bytesize, Digest::SHA256.hexdigest(content), content.encoding.name, file.size]
    end
  end
end
