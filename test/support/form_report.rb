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
      when Hash then value.map { |key, member| [describe(key, classes), describe(label(key, member), classes)] }
      when Array then [:array, *value.map { |member| describe(member, classes) }]
      when String then text(value)
      when nil, Symbol then value.inspect
      else file(value, classes)
      end
    end

    # How Rack labels a file's name depends on what else is in the piece of the body that it has read: UTF-8 where all
    # of it is ASCII, as a name in percent-encoding may be, and binary otherwise.
    def label(key, member)
      key == :filename ? member&.b : member
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
