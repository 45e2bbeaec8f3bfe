# frozen_string_literal: true

module Carat
  module Config
    module Type
      # The query of an address: `?mode=0660&proxy_protocol=true`, and parameters that parts declare. `mode` is nil or
      # three octal digits; `others` has one object of each class in .kinds.
      AddressParameters = Struct.new(:mode, :proxy_protocol, :others, keyword_init: true)

      # The query of an address.
      class AddressParameters
        MODE = /\Amode=0?([0-7]{3})\z/
        PROXY = /\Aproxy_protocol=(true|false)\z/
        private_constant :MODE, :PROXY

        class << self
          # Returns the classes that parts declare for their schemes and parameters.
          def kinds
            require_relative "../../../parts" # Here, because the parts require the types.
            Parts.filter_map(&:addresses)
          end

          # Returns the part of a message that lists the known parameters.
          def limits
            known = ["?mode=0660", "?proxy_protocol=true", *kinds.map { |kind| kind::NOUN }]
            "may end with #{known[0...-1].join(", ")}, and #{known.last}, joined by &, and with nothing else"
          end

          # Returns the parameters of a query, which may be empty, or nil when one of them is unknown.
          def parse(query)
            parameters = new(others: kinds.map(&:new))
            parameters if query.split("&", -1).all? { |pair| parameters.take?(pair) }
          end
        end

        # Takes a pair such as `mode=0660`; returns false when its parameter is unknown.
        def take?(pair)
          case pair
          when MODE then self.mode = Regexp.last_match(1)
          when PROXY then self.proxy_protocol = Regexp.last_match(1) == "true"
          else return others.any? { |other| other.take?(pair) }
          end
          true
        end

        # Returns what is wrong with the parameters for an address of this scheme, or nil.
        def problem(scheme)
          return "has a mode, which only a Unix socket has" if mode && scheme != "unix"

          others.filter_map { |other| other.problem(scheme) }.first
        end

        # Returns the parameters as the edge reads them, beginning with `?` unless there are none.
        def to_s
          pairs = others.flat_map(&:pairs)
          pairs << "mode=0#{mode}" if mode
          pairs << "proxy_protocol=true" if proxy_protocol
          pairs.empty? ? "" : "?#{pairs.join("&")}"
        end
      end
    end
  end
end
