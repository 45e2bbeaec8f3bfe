# frozen_string_literal: true

require_relative "command_line"

module Suite
  # Completions of the command for three shells. `rake docs` writes them.
  class Completions
    NOTE = "# Generated from Carat's option table by `rake docs`."
    private_constant :NOTE

    def initialize(line = CommandLine.new)
      @line = line
      @subcommands = line.subcommands
    end

    # @return [String] for bash
    def bash
      <<~SH
        #{NOTE}
        _carat() {
          local word=${COMP_WORDS[COMP_CWORD]} flags words command=#{@line.default.name} given
          for given in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
            case $given in #{names.join(" | ")}) command=$given; break ;; esac
          done
          case ${COMP_WORDS[COMP_CWORD-1]} in
        #{choices.map { |flag| "    #{flag.long.first}) words=#{quote(flag.words.join(" "))} ;;" }.join("\n")}
          esac
        #{cases { |flags| "flags+=#{quote(" #{flags.flat_map(&:long).join(" ")}")}" }}
          case $word in
            -*) words=$flags ;;
            *) if [ "$COMP_CWORD" = 1 ] || [ "$COMP_CWORD ${COMP_WORDS[1]}" = "2 help" ]; then words=#{quote(names.join(" "))}; fi ;;
          esac
          COMPREPLY=($(compgen -W "$words" -- "$word"))
        }
        complete -o default -F _carat carat
      SH
    end

    # @return [String] for zsh
    def zsh
      <<~SH
        #compdef carat
        #{NOTE}
        _carat() {
          local -a subcommands flags
          subcommands=(
        #{@subcommands.map { |subcommand| "    #{quote("#{subcommand.name}:#{subcommand.summary}")}" }.join("\n")}
          )
          local command=#{@line.default.name} given
          for given in "${(@)words[2,CURRENT-1]}"; do
            if (( ${subcommands[(I)$given:*]} )); then command=$given; break; fi
          done
          if (( CURRENT == 2 )) && [[ $words[2] != -* ]] || (( CURRENT == 3 )) && [[ $words[2] == help ]]; then
            _describe subcommand subcommands
          fi
        #{cases { |flags| zsh_flags(flags) }}
          _arguments $flags '*:file:_files'
        }
        _carat "$@"
      SH
    end

    # @return [String] for fish
    def fish
      [NOTE, *@subcommands.map { |subcommand| fish_subcommand(subcommand) },
       *commands.map { |flag, names| fish_flag(flag, names) }, ""].join("\n")
    end

    private

    def names
      @subcommands.map(&:name)
    end

    # The subcommands of each flag.
    def commands
      @commands ||= @subcommands.each_with_object({}) do |subcommand, all|
        subcommand.flags.each { |flag| (all[flag] ||= []) << subcommand.name }
      end
    end

    # One `case` for all flags that the same subcommands have.
    def cases
      commands.keys.group_by { |flag| commands.fetch(flag) }
              .map { |names, flags| "  case $command in #{names.join(" | ")}) #{yield flags} ;; esac" }.join("\n")
    end

    def choices
      commands.keys.select { |flag| flag.words.any? }.uniq { |flag| flag.long.first }
    end

    def zsh_flags(flags)
      ["flags+=(", *flags.flat_map { |flag| flag.names.map { |name| "    #{zsh_flag(name, flag)}" } }, "  )"].join("\n")
    end

    # Colons and brackets mean something to _arguments.
    def zsh_flag(name, flag)
      doc = flag.doc.gsub(/[\[\]:\\]/) { |character| "\\#{character}" }
      values = flag.words.any? ? "(#{flag.words.join(" ")})" : "_files"
      quote("*#{name}[#{doc}]#{":#{flag.value}:#{values}" if flag.value}")
    end

    def fish_subcommand(subcommand)
      "complete -c carat -n '__fish_use_subcommand; or __fish_seen_subcommand_from help' -a #{subcommand.name} " \
        "-d #{quote(subcommand.summary)}"
    end

    def fish_flag(flag, names)
      words = flag.names.map { |name| name.start_with?("--") ? "-l #{name[2..]}" : "-s #{name[1..]}" }
      value = " -r" if flag.value
      value = " -x -a #{quote(flag.words.join(" "))}" if flag.words.any?
      "complete -c carat#{fish_condition(names)} #{words.join(" ")}#{value} -d #{quote(flag.doc)}"
    end

    # The flags of the default subcommand apply when none is named.
    def fish_condition(names)
      others = self.names - names
      return if others.empty?
      return " -n 'not __fish_seen_subcommand_from #{others.join(" ")}'" if names.include?(@line.default.name)

      " -n '__fish_seen_subcommand_from #{names.join(" ")}'"
    end

    def quote(text)
      "'#{text.gsub("'", "'\\\\''")}'"
    end
  end
end
