# Debian's packages that Carat needs. Sourced by script/setup, script/trixie and script/sid.

# Prints the packages for a Debian release (12, 13, ...; sid is 14), one a line.
#
#   serve  what building Carat and serving examples/upload needs
#   test   what the checks, the tests and the benchmarks need beside that
debian_packages() {
  local release=$1 purpose; shift
  for purpose in "$@"; do "packages_to_$purpose" "$release"; done
}

packages_to_serve() {
  printf '%s\n' build-essential libclang-dev ruby ruby-dev ruby-rack ruby-sinatra
}

packages_to_test() {
  local release=$1
  printf '%s\n' ruby-minitest ruby-rspec ruby-rails rubocop yard puma wrk curl debootstrap brotli zstd \
    ruby-pg postgresql ruby-sequel ruby-sqlite3 ruby-erubi ruby-tilt ruby-redis redis-server \
    nginx haproxy apache2-bin lighttpd nghttp2-client git
  # Pages are the same with every Ruby: one Debian looks at them.
  if [ "$release" -lt 13 ]; then printf '%s\n' chromium-headless-shell; fi
  if [ "$release" -ge 13 ]; then printf '%s\n' ruby-rackup; fi
  if [ "$release" -ge 14 ]; then printf '%s\n' ruby-async ruby-async-http strace; fi
}

# Prints the packages of Debian's own Rust for the same purposes; from Debian 13 on it is recent enough.
debian_rust_packages() {
  local purpose
  for purpose in "$@"; do
    case $purpose in
      serve) printf '%s\n' cargo ;;
      test) printf '%s\n' rustfmt rust-clippy ;;
    esac
  done
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
