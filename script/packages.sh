# Debian's packages that building, running, testing and benchmarking Carat take. Sourced by script/setup,
# script/trixie and script/sid.

# Prints the names for the given Debian release (12, 13, ...; sid is 14), one a line.
debian_packages() {
  local release=$1
  printf '%s\n' build-essential libclang-dev ruby ruby-dev ruby-rack ruby-sinatra \
    ruby-minitest ruby-rails rubocop puma wrk curl debootstrap brotli zstd \
    ruby-pg postgresql ruby-sequel ruby-sqlite3 ruby-erubi ruby-tilt ruby-redis redis-server
  if [ "$release" -ge 13 ]; then printf '%s\n' ruby-rackup; fi
  if [ "$release" -ge 14 ]; then printf '%s\n' ruby-async ruby-async-http strace; fi
}

# Prints those of the given packages that are not installed.
packages_to_install() {
  local name
  for name in "$@"; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) in
      installed) ;;
      *) printf '%s\n' "$name" ;;
    esac
  done
}
