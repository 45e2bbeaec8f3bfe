# Debian's packages that Carat needs. Sourced by script/setup, script/trixie and script/sid.

# Prints the Debian release (12, 13, ...; sid is 14) that the system of an os-release file is, or that its packages come
# from: Ubuntu 24.04 comes from Debian 13. Prints nothing for any other system.
debian_release() {
  ( if [ -f "$1" ]; then . "$1"; fi
    case " ${ID:-} ${ID_LIKE:-} " in *" debian "*) ;; *) exit 0 ;; esac
    case ${DEBIAN_CODENAME:-${UBUNTU_CODENAME:-${VERSION_CODENAME:-}}} in
      buster | bullseye | focal | jammy) echo 11 ;;
      bookworm) echo 12 ;;
      trixie | noble) echo 13 ;;
      *) echo 14 ;;
    esac )
}

# Prints the packages for a Debian release (12, 13, ...; sid is 14), one a line.
#
#   serve  what building Carat, serving examples/upload, and script/test quick need
#   test   what the checks, the tests and the benchmarks need beside that
#   gems   what the gems of script/ruby compile with
debian_packages() {
  local release=$1 purpose; shift
  for purpose in "$@"; do "packages_to_$purpose" "$release"; done
}

packages_to_serve() {
  printf '%s\n' gcc libc6-dev make ruby ruby-dev ruby-rack ruby-sinatra ruby-minitest
  libclang_packages "$1"
}

# bindgen reads Ruby's headers with libclang, which it loads, and clang's own headers; libclang-dev is 400 MB more.
libclang_packages() {
  case $1 in
    12) printf '%s\n' libclang1-14 libclang-common-14-dev ;;
    13) printf '%s\n' libclang1-19 libclang-common-19-dev ;;
    *) printf '%s\n' libclang-dev ;;
  esac
}

packages_to_test() {
  local release=$1
  printf '%s\n' build-essential python3-venv ruby-rspec ruby-rails rubocop yard puma wrk curl debootstrap brotli zstd \
    ruby-pg postgresql ruby-sequel ruby-sqlite3 ruby-erubi ruby-tilt ruby-redis redis-server \
    nginx haproxy apache2-bin lighttpd nghttp2-client git
  # Pages and metrics are the same with every Ruby: one Debian looks at them.
  if [ "$release" -lt 13 ]; then printf '%s\n' chromium-headless-shell prometheus; fi
  if [ "$release" -ge 14 ]; then printf '%s\n' ruby-async ruby-async-http strace; fi
}

packages_to_gems() {
  printf '%s\n' build-essential libyaml-dev libffi-dev libxml2-dev libxslt1-dev libsqlite3-dev libpq-dev pkg-config xz-utils
}

# Prints the packages of Debian's own Rust for the same purposes. Debian 12 has a recent one for its browsers.
debian_rust_packages() {
  local release=$1 purpose; shift
  for purpose in "$@"; do
    case $release:$purpose in
      12:serve) printf '%s\n' cargo-web ;;
      12:test) printf '%s\n' rustfmt-web rust-web-clippy ;;
      *:serve) printf '%s\n' cargo ;;
      *:test) printf '%s\n' rustfmt rust-clippy ;;
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
