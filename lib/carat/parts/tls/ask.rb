# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../config/type/rule"

module Carat
  module Parts
    module TLS
      URL = %r{\Ahttp://(?:(?<host>[\w.-]{1,253})|\[(?<host>\h*:[\h:.]+)\])(?::(?<port>\d{1,5}))?(?<target>/[^#\s]*)?\z}
      PATH = %r{\A/(?!/)[^#\s]*\z}
      PORTS = (1..65_535)
      # Returns a value of ASK as readers see it.
      ASK_TEXT = lambda do |ask|
        next "off" unless ask

        server = ask[:server] or next ask[:target]
        host = server[:host].include?(":") ? "[#{server[:host]}]" : server[:host]
        "http://#{host}:#{server[:port]}#{ask[:target]}"
      end
      private_constant :ASK_TEXT, :PATH, :PORTS, :URL

      # Who is asked whether a name belongs to the application: a path of the application, or a URL. The edge gets it as
      # a Hash.
      ASK = Config::Type::Rule.new(
        "URL", name: "ask", text: ASK_TEXT,
               doc: "a path of the application, such as `/domains`, or `http://HOST:PORT/PATH`; or `off`."
      ) do |value|
        text = value.to_s
        next if value == false || text == "off"
        raise Config::InvalidValue, "#{value.inspect} has characters beyond ASCII" unless text.match?(/\A[!-~]+\z/)
        next { server: nil, target: text } if PATH.match?(text)

        url = URL.match(text)
        port = (url && url[:port] || 80).to_i
        unless url && PORTS.cover?(port)
          raise Config::InvalidValue, "#{value.inspect} is neither a path such as /domains nor http://HOST:PORT/PATH"
        end

        { server: { host: url[:host], port: }, target: url[:target] || "/" }
      end
    end
  end
end
