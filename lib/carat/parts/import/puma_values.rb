# frozen_string_literal: true

require_relative "call"

module Carat
  module CLI
    class Import
      # Translates the calls whose arguments have another form or meaning in Carat.
      module PumaValues
        ALL_PERMISSIONS = 0o777
        PLUGINS = {
          "tailwindcss" => 'write process "css", command: "bin/rails tailwindcss:watch", only: :development',
          "yabeda" => "start the exporter in on_mold_boot", "systemd" => "start carat with ExecStart",
          "statsd" => "`carat status --json` and `carat memory --json` have the numbers"
        }.freeze
        JOBS = "process(\"jobs\", overlap: true, stop_timeout: \"30s\") { SolidQueue::Supervisor.start }"
        # The host on which Puma 8 listens when the configuration names only a port.
        EVERYWHERE = "*"
        PROXIES = "trusted_proxies names the proxies whose X-Forwarded-For counts (docs/proxies.md)"
        REMOTE = { ":socket" => "Carat always does, but for trusted_proxies", ":localhost" => PROXIES }.freeze
        private_constant :ALL_PERMISSIONS, :EVERYWHERE, :JOBS, :PLUGINS, :PROXIES, :REMOTE

        class << self
          # Returns the Translation of a Call, whose name is one of PumaDSL::VALUES.
          def translate(call)
            send(call.name.to_s.delete_suffix("!"), call)
          end

          # Returns the host with the brackets that an IPv6 address needs before a port (RFC 3986, section 3.2.2).
          # `host` may be nil.
          def bracketed(host)
            host&.include?(":") ? "[#{host.delete("[]")}]" : host
          end

          private

          def threads(call)
            most = call.arguments.last or return note("needs a value")
            same = call.arguments.size == 1 || call.arguments.uniq.size == 1
            code("threads #{most}", same ? nil : "Carat has no minimum of threads")
          end

          def workers(call)
            count = call.arguments.first
            return code('workers "auto"', "as many as processors, while the load needs them") if count == ":auto"
            return code("workers #{[call.number(0), 1].max}", single_mode(call.number(0))) if call.number(0)

            code("workers [(#{count}).to_i, 1].max")
          end

          def single_mode(count)
            "Puma's single mode is one worker" if count.zero?
          end

          def port(call)
            port, host = call.arguments
            return note("needs a value") unless port

            host = host.nil? ? EVERYWHERE : inside(bracketed(call.string(1)), host)
            code("bind \"tcp://#{host}:#{inside(call.number(0), port)}\"")
          end

          # The parameter for the PROXY protocol is added by ProxyProtocol.
          def set_remote_address(call)
            return note("the addresses end with ?proxy_protocol=true") if call.pairs(0)&.key?("proxy_protocol")

            note(REMOTE.fetch(call.arguments.first, "have the proxy send X-Forwarded-For; #{PROXIES}"))
          end

          # Returns the text to write within a String: a literal as it is, and other code as an interpolation.
          def inside(literal, text)
            literal || "\#{#{text}}"
          end

          def bind(call)
            address = call.string(0)
            return code("bind #{call.arguments.first}", "check the address: carat check") unless address

            plain, query = address.split("?", 2)
            code("bind #{"#{plain}#{mode(query)}".inspect}", left_out(query))
          end

          # The parameter `mode` of a Unix socket, from Puma's parameter `umask`.
          def mode(query)
            umask = query.to_s[/(?:\A|&)umask=(\d+)/, 1]
            format("?mode=0%o", ALL_PERMISSIONS & ~umask.to_i(8)) if umask
          end

          def left_out(query)
            others = query.to_s.split("&").reject { |parameter| parameter.start_with?("umask=") }
            "without #{others.join(" and ")}; see the option backlog" if others.any?
          end

          def force_shutdown_after(call)
            return note("shutdown_timeout bounds every stop, such as shutdown_timeout \"1h\"") unless call.number(0)

            code("shutdown_timeout #{[call.number(0), 1].max}")
          end

          def fork_worker(call)
            return code("refork after: [#{call.arguments.first || 1000}]") unless call.number(0)&.zero?

            code('refork "off"', 'Carat has no signal for it; refork "auto" measures when it pays')
          end

          def plugin(call)
            name = call.arguments.first.to_s.delete(":\"'")
            return code('restart_file "tmp/restart.txt"') if name == "tmp_restart"
            return code(JOBS, "the mold forks it; docs/processes.md") if name == "solid_queue"

            note(PLUGINS.fetch(name, "plugins belong to Puma; run what it does beside Carat"))
          end

          def preload_app(call)
            off = call.arguments.first == "false"
            note(off ? "Carat always loads the application before it forks" : "Carat always does")
          end

          def quiet(call)
            code("access_log #{call.arguments.first == "false"}")
          end

          def stdout_redirect(call)
            out, err = call.arguments
            code("log #{err || out}", "Carat's own lines; redirect the application's where you start carat")
          end

          # The block runs in any case (`tap`), because Carat always has workers.
          def cluster(call)
            call.block? ? code("tap") : note("pass a block, do ... end")
          end

          def single(_call)
            note("Carat always has workers")
          end

          def code(text, note = nil)
            Translation.new(text, note)
          end

          def note(text)
            Translation.new(nil, text)
          end
        end
      end
    end
  end
end
