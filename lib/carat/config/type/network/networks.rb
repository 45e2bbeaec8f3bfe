# frozen_string_literal: true

require "ipaddr"
require "uri"
require_relative "../../config_error"
require_relative "../rule"
require_relative "address"

module Carat
  module Config
    module Type
      # Types of addresses and URLs, and of parts of URLs. A list takes one value or an Array and returns an Array of
      # Strings.
      module Networks
        NONE = "none"
        NETWORK = %r{\A[\h.:]+(?:/\d{1,3})?\z}
        PLAIN = %r{\Atcp://[^?]+\z}
        PREFIX_PATTERN = %r{\A(?:/(?!\.\.?(?:/|\z))[\w.~!$&'()*+,;=:@-]+)+\z}
        TARGET = %r{\A/[!-~]*\z}
        COLLECTOR_PATTERN = %r{\Ahttp://(?:(?<host>[\w.-]{1,253})|\[(?<host>\h*:[\h:.]+)\]):(?<port>\d{1,5})
                               (?<path>(?:/[\w.~-]+)*)/?(?:\?sample=(?<sample>[^&]*))?\z}x
        SHARE = /\A\d(?:\.\d{1,9})?\z/
        LIST = ->(value) { value.empty? ? NONE : value.join(", ") }
        private_constant :COLLECTOR_PATTERN, :LIST, :NETWORK, :NONE, :PLAIN, :PREFIX_PATTERN, :SHARE,
                         :TARGET

        # The addresses to listen on, at least one.
        ADDRESSES = Rule.new("ADDRESS", text: ->(value) { value.join(", ") }) do |value|
          addresses = Array(value).map { |text| Address.parse(text) }
          raise InvalidValue, "no address is given; write #{Address.forms}" if addresses.empty?

          addresses
        end

        # The addresses of the server's own pages, none by default: `tcp://HOST:PORT` without parameters.
        ENDPOINTS = Rule.new("ADDRESS", text: ->(value) { value.join(", ") }) do |value|
          other = Array(value).map(&:to_s).grep_v(PLAIN).first
          raise InvalidValue, "#{other.inspect} is not tcp://HOST:PORT, such as tcp://127.0.0.1:9394" if other

          Array(value).map { |text| Address.parse(text) }
        end

        # Networks such as `10.0.0.0/8`, or "none".
        NETWORKS = Rule.new("NETWORK", text: LIST) do |value|
          next [] if value.to_s == NONE

          Array(value).each do |network|
            next if network.is_a?(String) && NETWORK.match?(network) && IPAddr.new(network)

            raise IPAddr::Error
          rescue IPAddr::Error
            raise InvalidValue, "#{network.inspect} is not a network such as 10.0.0.0/8 or fd00::/8, nor an address"
          end
        end

        # Request targets, such as `/login?next=%2F`; the list may be empty.
        TARGETS = Rule.new("PATH", text: LIST) do |value|
          Array(value).map do |target|
            raise InvalidValue, "#{target.inspect} is not a path such as /login" unless TARGET.match?(target.to_s)

            target.to_s
          end
        end

        # The path below which the application is reached, such as `/app`, with or without a slash at its end; nil for
        # `/`.
        PREFIX = Rule.new("PATH") do |value|
          prefix = value.to_s.delete_suffix("/")
          next prefix.empty? ? nil : prefix if prefix.empty? ? value == "/" : PREFIX_PATTERN.match?(prefix)

          raise InvalidValue, "#{value.inspect} is not the beginning of a path such as /app"
        end

        # Returns a value of COLLECTOR as readers see it.
        def self.collector_text(url)
          host = url[:host].include?(":") ? "[#{url[:host]}]" : url[:host]
          "http://#{host}:#{url[:port]}#{url[:path]}?sample=#{url[:sample]}"
        end
        private_class_method :collector_text

        # The address of an OpenTelemetry collector, and the share of the requests that it gets:
        # `http://127.0.0.1:4318?sample=0.1`. The edge gets the parts of the address as a Hash.
        COLLECTOR = Rule.new("URL", text: method(:collector_text)) do |value|
          url = COLLECTOR_PATTERN.match(value.to_s)
          port = url ? url[:port].to_i : 0
          raise InvalidValue, "#{value.inspect} is not http://HOST:PORT" unless port.between?(1, 65_535)

          sample = url[:sample] || "1"
          unless SHARE.match?(sample) && sample.to_f <= 1
            raise InvalidValue, "#{value.inspect}: sample is a share from 0 to 1, such as 0.1"
          end

          { host: url[:host], port:, path: url[:path], sample: sample.to_f }
        end

        # The URL of a server to which requests go over HTTPS.
        HTTPS = Rule.new("URL") do |value|
          uri = URI.parse(value.to_s)
          next uri.to_s if uri.is_a?(URI::HTTPS) && uri.host&.match?(/\A[\w.-]+\z/) && !uri.userinfo

          raise InvalidValue, "#{value.inspect} is not https://HOST/PATH"
        rescue URI::InvalidURIError
          raise InvalidValue, "#{value.inspect} is not a URL"
        end
      end
    end
  end
end
