# Runs a command of this checkout in the root file system of another Debian, which the first run makes.
# Sourced by script/trixie, script/sid, and the like, which set
#
#   suite        its name, such as trixie
#   base         the release that debootstrap makes, if that has another name
#   foreign      another architecture of packages, if there is one, such as arm64
#   release      its number, as debian_packages takes it
#   title        its name in messages
#   root         the directory of the root file system
#
# and may set
#
#   maker             the script whose mark the root carries, script/$suite by default
#   further_packages  an array of packages that the root needs beside Carat's
#   apt_sources       after this file: a function that prints other sources, as script/sid does
#
# The root uses the cargo that its Debian packages. Of this machine it sees the checkout and the crates that cargo has
# downloaded, never the Ruby or Rust toolchain.
. script/packages.sh
. script/owned_directory.sh
. script/apt_mirror.sh

UNABLE=77
REFUSED=2
checkout=$PWD
maker=${maker:-script/$suite}
cargo_home=${CARGO_HOME:-$HOME/.cargo}

unable() {
  printf '\n!!! NOT RUN ON %s: %s !!!\n\n' "${title^^}" "$*" >&2
  exit "$UNABLE"
}

# Prints the names of the packages that the root needs.
wanted_packages() {
  debian_packages "$release" serve test
  debian_rust_packages "$release" serve test
  printf '%s\n' "${further_packages[@]}"
}

# Runs a command in the root ($1). Its mounts live in a mount namespace of their own and end with it.
enter() {
  local inside=$1; shift
  root=$inside checkout=$checkout crates=$cargo_home/registry \
    unshare --mount --propagation private bash -euc '
      mount --bind "$root" "$root" # so that / is a mount point, and the command can make namespaces of its own
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount --rbind /sys "$root/sys"
      mkdir -p "$root$checkout" "$crates" "$root/root/.cargo/registry"
      mount --bind "$checkout" "$root$checkout"
      mount --bind "$crates" "$root/root/.cargo/registry"
      exec chroot "$root" "$@"' _ "$@"
}

# Copies what the root needs of this machine: name resolution, certificates, and how apt and cargo reach their mirrors.
share_settings() {
  local inside=$1 certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  cp -L /etc/resolv.conf /etc/hosts "$inside/etc/"
  mkdir -p "$inside/etc/ssl/certs" "$inside/root/.cargo"
  if [ -f "$certificates" ]; then cp -L "$certificates" "$inside/etc/ssl/certs/ca-certificates.crt"; fi
  apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Retries|Check-(Valid-Until|Date))' \
    >"$inside/etc/apt/apt.conf.d/90machine" || true
  if [ -f "$cargo_home/config.toml" ]; then
    awk '/^[ \t]*\[/ { keep = /\[(source|registry|registries|net|http)[].]/ } keep' "$cargo_home/config.toml" \
      >"$inside/root/.cargo/config.toml"
  fi
}

# Prints apt's sources of a stable release, given the mirrors of Debian and of its security updates.
apt_sources() {
  local debian=$1 security=$2 stable=${base:-$suite}
  printf '%s\n' "deb $debian $stable main" "deb $debian $stable-updates main" "deb $security $stable-security main"
}

write_sources() {
  local inside=$1 debian=$2 security=$3
  apt_sources "$debian" "$security" >"$inside/etc/apt/sources.list"
  printf '#!/bin/sh\nexit 101\n' >"$inside/usr/sbin/policy-rc.d"
  chmod +x "$inside/usr/sbin/policy-rc.d"
}

make_base() {
  local inside=$1 debian security
  debian=$(apt_mirror '/debian/?$')
  security=$(apt_mirror '/debian-security/?$')
  [ -n "$debian" ] || unable "the apt sources of this machine name no mirror of Debian (a URI that ends in /debian)"
  echo "$suite: making $title in $root from $debian" >&2
  remove_owned "$inside" "$maker" && make_owned "$inside" "$maker" || exit "$REFUSED"
  make_empty_system "$inside" "$debian" || return
  write_sources "$inside" "$debian" "$security"
  if [ -n "${foreign:-}" ]; then chroot "$inside" dpkg --add-architecture "$foreign"; fi
}

# Puts a system without further packages into the directory ($1), from the mirror ($2).
make_empty_system() {
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include=ca-certificates "${base:-$suite}" "$1" "$2" >&2
}

install_into() {
  local inside=$1 packages
  packages=$(wanted_packages | xargs)
  share_settings "$inside"
  install_packages "$inside" $packages >&2 || return
  echo "$packages" >"$inside/etc/carat-packages"
}

install_packages() {
  local inside=$1; shift
  enter "$inside" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -euc '
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@"
    apt-get clean' _ "$@"
}

# Makes the root, or adds the packages that have joined the list since. It gets its name only when it is complete.
prepare() {
  mkdir -p "$(dirname "$root")"
  exec 8>"$root.lock"
  flock 8
  if [ ! -f "$root/etc/carat-packages" ]; then
    if [ -d "$root" ] && ! is_owned "$root" "$maker" && ! is_empty "$root"; then
      refuse "$root was not made by $maker; name an empty directory or one that does not exist"
      exit "$REFUSED"
    fi
    make_base "$root.partial" && install_into "$root.partial" || return
    if [ -d "$root" ] && is_empty "$root"; then rmdir "$root"; else remove_owned "$root" "$maker"; fi || exit "$REFUSED"
    mv -T "$root.partial" "$root"
  elif ! is_owned "$root" "$maker"; then
    refuse "$root does not carry the mark of $maker; delete it yourself, or name another directory"
    exit "$REFUSED"
  elif [ "$(cat "$root/etc/carat-packages")" != "$(wanted_packages | xargs)" ]; then
    install_into "$root" || return
  fi
  exec 8>&-
}

# Runs the command in a clean environment.
run() {
  local status=0 pass=() name
  for name in CI TERM RUST_BACKTRACE CARGO_INCREMENTAL "${!CARGO_PROFILE_@}" "${!CARGO_NET_@}" "${!CARGO_HTTP_@}" \
    "${!CARGO_REGISTRIES_@}" "${!CARGO_SOURCE_@}" http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    if [ -n "${!name:-}" ]; then pass+=("$name=${!name}"); fi
  done
  share_settings "$root"
  enter "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt CARGO_TARGET_DIR="$checkout/target/$suite" "${pass[@]}" \
    sh -c 'cd "$1" && shift && exec "$@"' _ "$checkout" "$@" || status=$?
  if [ "$status" = "$UNABLE" ]; then status=1; fi
  return "$status"
}

# Runs the command. Exits with 77 when this machine cannot, and with 2 when the directory belongs to somebody else.
run_in_debian_root() {
  [ $# -gt 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
  [ "$(id -u)" = 0 ] || unable "chroot needs root (try: sudo --preserve-env=HOME,PATH $0 ...)"
  command -v debootstrap >/dev/null || unable "debootstrap is missing (script/setup installs it)"
  unshare --mount true 2>/dev/null || unable "mounting is not allowed here (a container without CAP_SYS_ADMIN?)"
  root=$(realpath -ms -- "$root")
  prepare || unable "the root in $root could not be made; see above"
  enter "$root" true || unable "the root in $root cannot be entered"
  run "$@"
}
