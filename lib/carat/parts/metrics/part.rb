# frozen_string_literal: true

require_relative "../part"

module Carat
  module Parts
    # The addresses for Prometheus and health checks, and `carat top`.
    module Metrics
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :metrics, key: :addresses, group: "Service", type: :endpoints, default: [], default_text: "off",
                         edge: true,
                         doc: "An address on which the server answers Prometheus and health checks; repeatable."

        ADDRESS = %r{\A(?:tcp|tls)://(?<host>.+):(?<port>\d+)(?:\?|\z)}
        # Hosts with which a listener takes the port at every address of the machine.
        EVERYWHERE = %w[[::] *].freeze
        # The host with which a listener takes the port at every IPv4 address of the machine.
        EVERY_IPV4 = "0.0.0.0"
        LOOPBACK = %w[127.0.0.1 [::1]].freeze
        private_constant :ADDRESS, :EVERYWHERE, :EVERY_IPV4, :LOOPBACK

        # The subcommand `top`, which shows what the server does, again and again.
        def subcommands
          { "top" => File.join(__dir__, "top") }
        end

        # Raises ConfigError when `bind` has an address of `metrics` as well, or `metrics` names it twice.
        def check(configuration)
          taken = endpoints(configuration[:bind])
          endpoints(configuration[:metrics]).each do |endpoint|
            if taken.any? { |other| same?(endpoint, other) }
              configuration.refuse(:metrics,
                                   "#{endpoint[0].inspect} is taken by bind, or named twice: choose another port")
            end
            taken << endpoint
          end
        end

        private

        def endpoints(addresses)
          addresses.filter_map { |address| ADDRESS.match(address) }
        end

        # Whether two addresses take the same port. Port 0 never does, because the kernel chooses another port for each.
        def same?(one, other)
          return false if one[:port] != other[:port] || one[:port].to_i.zero?

          hosts = [one[:host], other[:host]]
          hosts.uniq.one? || covers?(*hosts) || covers?(*hosts.reverse)
        end

        # Whether a listener at `host` also takes the port at the host `other`.
        def covers?(host, other)
          case host
          when *EVERYWHERE then true
          when EVERY_IPV4 then !other.start_with?("[")
          when "localhost" then LOOPBACK.include?(other)
          else false
          end
        end
      end
    end
  end
end
