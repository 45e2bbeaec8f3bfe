# frozen_string_literal: true

require_relative "../../config_error"
require_relative "address_parameters"
require_relative "../path/paths"

module Carat
  module Config
    module Type
      # One address to listen on, in a canonical form: `tcp://host:port`, `tcp://[::1]:port`, `tcp://*:port`,
      # `unix:///path?mode=0660` or `fd://3`. Each form may have the parameter `proxy_protocol=true`. Parts declare
      # further schemes for a host and a port.
      module Address
        TCP = %r{\A(\w+)://(\*|[\w.-]+|\[[\h:.]+(?:%[\w.-]+)?\]):(\d{1,5})\z}
        UNIX = %r{\Aunix://([^?]+)\z}
        FD = %r{\Afd://(\d{1,7})\z}
        private_constant :FD, :TCP, :UNIX

        module_function

        # Returns the forms of an address, for messages.
        def forms
          further = AddressParameters.kinds.map { |kind| kind::FORM }
          "#{["tcp://HOST:PORT", *further, "unix:///PATH?mode=0660"].join(", ")} or fd://NUMBER"
        end

        # Returns the address in the form that the edge reads, with an absolute socket path. Raises InvalidValue.
        def parse(text)
          place, query = text.to_s.split("?", 2)
          address = place(text, place.to_s)
          parameters = AddressParameters.parse(query.to_s) or refuse(text, AddressParameters.limits)
          problem = parameters.problem(address[/\A\w+/])
          refuse(text, problem) if problem
          "#{address}#{parameters}"
        end

        def place(text, place)
          case place
          when UNIX then unix(text, Regexp.last_match(1))
          when FD then fd(text, Regexp.last_match(1).to_i)
          when TCP then tcp(text, Regexp.last_match(1), Regexp.last_match(2), Regexp.last_match(3).to_i)
          else refuse_form(text)
          end
        end

        def tcp(text, scheme, host, port)
          refuse_form(text) unless ["tcp", *AddressParameters.kinds.map { |kind| kind::SCHEME }].include?(scheme)
          refuse(text, "has no port from 0 to 65535") if port > 65_535
          refuse(text, "has a host that is not an IPv6 address") if host.start_with?("[") && !ipv6?(host)
          "#{scheme}://#{host}:#{port}"
        end

        def unix(text, path)
          path = File.expand_path(path)
          problem = Paths.socket_problem(path)
          refuse(text, problem) if problem
          "unix://#{path}"
        end

        def fd(text, number)
          refuse(text, "has no number of 3 or more") if number < 3
          "fd://#{number}"
        end

        def ipv6?(host)
          require "ipaddr"
          IPAddr.new(host).ipv6?
        rescue IPAddr::Error
          false
        end

        def refuse_form(text)
          refuse(text, "is not an address; write #{forms}")
        end

        def refuse(text, problem)
          raise InvalidValue, "#{text.inspect} #{problem}"
        end

        private_class_method :place, :tcp, :unix, :fd, :ipv6?, :refuse_form, :refuse
      end
    end
  end
end
