# frozen_string_literal: true

module Carat
  module Config
    module Type
      # What may follow an address: `?mode=0660&proxy_protocol=true`. `mode` is nil or three octal digits.
      AddressParameters = Struct.new(:mode, :proxy_protocol, keyword_init: true)

      # What may follow an address.
      class AddressParameters
        # What to say about parameters that #parse does not understand.
        PROBLEM = "may end with ?mode=0660 and ?proxy_protocol=true, joined by &, and with nothing else"
        MODE = /\Amode=0?([0-7]{3})\z/
        PROXY = /\Aproxy_protocol=(true|false)\z/
        private_constant :MODE, :PROXY

        # Returns the parameters of a query, which may be empty; nil when it has others.
        def self.parse(query)
          query.split("&", -1).each_with_object(new) do |pair, parameters|
            case pair
            when MODE then parameters.mode = Regexp.last_match(1)
            when PROXY then parameters.proxy_protocol = Regexp.last_match(1) == "true"
            else return nil
            end
          end
        end

        # Returns them as the edge reads them, beginning with `?` unless there are none.
        def to_s
          pairs = [("mode=0#{mode}" if mode), ("proxy_protocol=true" if proxy_protocol)].compact
          pairs.empty? ? "" : "?#{pairs.join("&")}"
        end
      end
    end
  end
end
