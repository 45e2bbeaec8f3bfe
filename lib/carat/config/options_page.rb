# frozen_string_literal: true

require_relative "sources/hooks"
require_relative "options"
require_relative "type/network/address_parameters"
require_relative "type/rule"

module Carat
  module Config
    # The text of docs/options.md. `rake docs` writes the page after a change of the option table.
    class OptionsPage
      HEAD = <<~MARKDOWN
        # Options

        <!-- Generated from the option tables: lib/carat/config/options.rb, lib/carat/parts; a test compares them. -->

        An option is a flag of the command (`--max-body 10MB`), a line of the config file (`max_body "10MB"`), or an environment
        variable: `CARAT_` and the name in capitals (`CARAT_MAX_BODY=10MB`). A flag wins over the config file, the file over the environment,
        and the environment over the default. Of several variables, the first one with a value counts. A boolean flag alone means true, and
        false with `--no-`.

        The config file is Ruby: `carat.rb` or `config/carat.rb` in the working directory, or the one that `--config` names. `carat init`
        writes one. The command reads it, and each new mold reads it again; the edge does not. A change takes effect with `carat
        restart` or at the next start: [the list below](#at-a-restart) says which.

        ```ruby
        # carat.rb
        bind "tcp://*:3000"
        workers 2
        max_body "100MB"
        on_worker_boot { puts "worker \#{Process.pid}" }
        ```

        `carat check` validates all of it: it prints the first mistake with its place and exits with status 78, or with 0. `carat check --print` shows
        each option, its value, and the flag, line, or variable that sets it, and what that overrides: `carat.rb:3, not WEB_CONCURRENCY`.
      MARKDOWN
      VALUES = <<~MARKDOWN
        ## Values

        - **addresses**: `tcp://HOST:PORT` (port 0 chooses a free port), `tcp://[::1]:PORT`,
          `tcp://*:PORT` (every address of the machine: IPv6 where there is IPv6, and IPv4),
          #{[*Type::AddressParameters.kinds.map { |kind| kind::FORMS }, "`unix:///PATH`"].join(", ")}, `unix:///PATH?mode=0660`, and `fd://NUMBER` for a listening socket that Carat inherits. In the config file
          call `bind` once for each address; in `CARAT_BIND`, separate them with commas. `PORT=3000` means
          `tcp://*:3000`. `?proxy_protocol=true` at the end of any of them means that
          [each connection begins with a PROXY header](proxies.md#proxy-protocol).
        - **endpoints**: `tcp://HOST:PORT`, as often as you like; the host `*` is every address of the machine.
        - **bytes**: a number, or text such as `"64KB"`, `"64KiB"`, `"1GB"`; units are powers of 1024.
        - **seconds**: a number, or text such as `"500ms"`, `"30s"`, `"5m"`, `"12h"`, `"1d"`; above 0, at most a year.
        - **timeout**: seconds, or `off`.
        - **boolean**: `true` or `false` (also `yes`/`no`, `on`/`off`, `1`/`0`).
        - **workers**: a number; a range such as `1..8` (in the config file also without quotes), within which the number
          follows the load; or `auto`: as many as cores and memory allow.
        - **memory**: a share such as `"80%"`, or bytes with their unit, such as `"512MB"`.
        - **refork**: `auto`, `off`, or the numbers of requests after which a worker becomes the mold:
          `refork after: [1000, 10_000]` in the config file, `--refork 1000,10000` as a flag. The last number repeats.
        - **gc**: `frugal`, `ruby`, or, in the config file, your own values by the names of Ruby's variables:
          `gc heap_growth_factor: 1.1, heap_free_slots_goal_ratio: 0.2`. `RUBY_GC_` variables in the environment win.
        - **targets**: the path and query of a request, such as `/login`: `warm_up "/", "/login"` in the config file, commas in
          `CARAT_WARM_UP`, one flag for each.
        - **path_ends**: such as `lib/prices.rb`, as often as you like.
        - **user**, **group**: a name or a number.
        - **networks**: addresses and networks in CIDR notation, such as `10.0.0.0/8` or `fd00::/8`; `none` for no network:
          `trusted_proxies "10.0.0.0/8", "192.0.2.7"` in the config file, commas in the variable, one flag for each.
        - **static**: a directory, or a prefix of the URL and a directory: `/assets=public/assets`. The config file
          [knows more](static.md).
        - **pools**: a name, and `paths`, `threads`, `queue_limit`, or `priority`: [Pools](pools.md).
        - **umask**: octal digits, such as `"027"`. **https_url**: `https://HOST/PATH`.
        - **collector**: `http://HOST:PORT`, and behind it the share of the requests, if not all: `http://127.0.0.1:4318?sample=0.1`.
        - **file**, **directory**, **new_directory**, **log**, **pidfile**, **socket**: a path, relative to the working directory. The absolute path of a
          socket has at most 107 bytes.
      MARKDOWN
      COLUMNS = %w[Option Type Default Meaning].freeze
      private_constant :HEAD, :VALUES, :COLUMNS

      # Returns the page as Markdown.
      def to_s
        [HEAD, *groups, hooks, restart, VALUES + values_of_parts].join("\n")
      end

      private

      def groups
        Options.group_by(&:group).map do |group, options|
          "## #{group}\n\n#{table(COLUMNS, options.map { |option| row(option) })}"
        end
      end

      def hooks
        rows = Hooks::TABLE.map { |name, doc| ["`#{name}`", doc] }
        "## Hooks\n\nBlocks in the config file. Several blocks of one hook run in the order of the file.\n\n" \
          "#{table(%w[Hook When], rows)}"
      end

      def restart
        "## At a restart\n\nThese options change with `carat restart`, the others at an upgrade or the next start:\n" \
          "#{Options.select(&:restart?).map { |option| "`#{option.name}`" }.join(", ")}.\n"
      end

      # The lines about the types that the parts declare.
      def values_of_parts
        rules = Options.map(&:type).grep(Type::Rule).uniq
        rules.map { |rule| "- **#{rule}**: #{rule.doc}\n" }.join
      end

      def row(option)
        ["`#{option.name}`", type(option), "`#{option.default_words}`", "#{option.doc}#{remarks(option)}"]
      end

      # The option's short flag and other variables, and the sources that may not set it.
      def remarks(option)
        also = [option.short, *option.env].compact.map { |word| "`#{word}`" }.join(", ")
        sources = { %i[flag] => " Only a flag.", %i[file] => " Only in the config file.",
                    %i[flag env] => " Not in the config file." }
        "#{" Also #{also}." unless also.empty?}#{sources[option.only]}"
      end

      def type(option)
        case option.type
        when :choice then option.within.map { |word| "`#{word}`" }.join(" or ")
        when :integer then "integer, #{option.within.begin} to #{option.within.end}"
        else option.type.to_s
        end
      end

      def table(columns, rows)
        [columns, columns.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |\n" }.join
      end
    end
  end
end
