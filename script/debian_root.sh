# Runs a command of this checkout in the root file system of another Debian, which is made on the first run.
# Sourced by script/trixie and script/sid, which say which one:
#
#   suite        its name, such as trixie
#   release      its number, as debian_packages takes it
#   title        what messages call it
#   root         where the root file system is
#   apt_sources  prints apt's sources, from the mirrors of Debian and of its security updates
. script/packages.sh

UNABLE=77
checkout=$PWD
sysroot=$(rustc --print sysroot 2>/dev/null || true)
cargo_home=${CARGO_HOME:-$HOME/.cargo}

unable() {
  printf '\n!!! NOT RUN ON %s: %s !!!\n\n' "${title^^}" "$*" >&2
  exit "$UNABLE"
}

# The URIs of apt's sources on this machine, in both formats of its files.
apt_uris() {
  local lists=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list) sources=(/etc/apt/sources.list.d/*.sources)
  sed -nE 's/^URIs:[ \t]*//p' "${sources[@]}" 2>/dev/null | tr -s ' ' '\n'
  sed -nE 's/^deb[ \t]+(\[[^]]*\][ \t]+)?([^ \t]+).*/\2/p' "${lists[@]}" 2>/dev/null
}

# Prints the first of apt's URIs that matches, or the default.
mirror() {
  local pattern=$1 default=$2 found
  found=$(apt_uris | grep -E "$pattern" | head -n 1 || true)
  printf '%s\n' "${found:-$default}"
}

# Debian's cargo is no tree that could be mounted: where that is used, the root has its own.
rust_is_packaged() { [ "$sysroot" = /usr ] || [ -z "$sysroot" ]; }

wanted_packages() {
  debian_packages "$release"
  if rust_is_packaged; then printf '%s\n' cargo rustfmt rust-clippy; fi
}

# Runs a command in the root ($1). All mounts are in a name space of their own and end with it.
enter() {
  local inside=$1; shift
  root=$inside checkout=$checkout sysroot=$sysroot cargo_home=$cargo_home \
    unshare --mount --propagation private bash -euc '
      mount_at() { mkdir -p "$root$1"; mount --bind "$1" "$root$1"; }
      mount -t proc proc "$root/proc"
      mount --rbind /dev "$root/dev"
      mount --rbind /sys "$root/sys"
      mount_at "$checkout"
      if [ -n "$sysroot" ] && [ "$sysroot" != /usr ]; then
        mkdir -p "$cargo_home"
        mount_at "$cargo_home"
        mount_at "$sysroot"
      fi
      exec chroot "$root" "$@"' _ "$@"
}

# What the root takes from this machine: names, certificates, and how apt reaches its mirror.
share_settings() {
  local inside=$1 certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  cp -L /etc/resolv.conf /etc/hosts "$inside/etc/"
  mkdir -p "$inside/etc/ssl/certs"
  if [ -f "$certificates" ]; then cp -L "$certificates" "$inside/etc/ssl/certs/ca-certificates.crt"; fi
  apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Retries|Check-(Valid-Until|Date))' \
    >"$inside/etc/apt/apt.conf.d/90machine" || true
}

write_sources() {
  local inside=$1 debian=$2 security=$3
  apt_sources "$debian" "$security" >"$inside/etc/apt/sources.list"
  printf '#!/bin/sh\nexit 101\n' >"$inside/usr/sbin/policy-rc.d"
  chmod +x "$inside/usr/sbin/policy-rc.d"
}

make_base() {
  local inside=$1 debian security
  debian=$(mirror '/debian/?$' http://deb.debian.org/debian)
  security=$(mirror 'debian-security/?$' http://deb.debian.org/debian-security)
  echo "$suite: making $title in $root from $debian" >&2
  rm -rf "$inside"
  mkdir -p "$inside"
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$inside" "$debian" >&2 || return
  write_sources "$inside" "$debian" "$security"
}

install_into() {
  local inside=$1 packages; shift
  packages=$(wanted_packages | xargs)
  share_settings "$inside"
  enter "$inside" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -euc '
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@"
    apt-get clean' _ $packages >&2 || return
  echo "$packages" >"$inside/etc/carat-packages"
}

# Makes the root, or adds packages that have joined the list since; it appears under its name when it is complete.
prepare() {
  mkdir -p "$(dirname "$root")"
  exec 8>"$root.lock"
  flock 8
  if [ ! -f "$root/etc/carat-packages" ]; then
    make_base "$root.partial" && install_into "$root.partial" || return
    rm -rf "$root"
    mv "$root.partial" "$root"
  elif [ "$(cat "$root/etc/carat-packages")" != "$(wanted_packages | xargs)" ]; then
    install_into "$root" || return
  fi
  exec 8>&-
}

# The command sees a clean environment, so that nothing of this machine's Ruby or Rust gets in.
run() {
  local status=0 pass=() name
  for name in CI TERM RUST_BACKTRACE CARGO_NET_OFFLINE http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    if [ -n "${!name:-}" ]; then pass+=("$name=${!name}"); fi
  done
  if ! rust_is_packaged; then pass+=("CARGO_HOME=$cargo_home"); fi
  share_settings "$root"
  enter "$root" env -i HOME=/root LANG=C.UTF-8 PATH="$sysroot/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt CARGO_TARGET_DIR="$checkout/target/$suite" "${pass[@]}" \
    sh -c 'cd "$1" && shift && exec "$@"' _ "$checkout" "$@" || status=$?
  if [ "$status" = "$UNABLE" ]; then status=1; fi
  return "$status"
}

# Runs the command, or exits with 77.
run_in_debian_root() {
  [ $# -gt 0 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
  [ "$(id -u)" = 0 ] || unable "chroot takes root (try: sudo --preserve-env=HOME,PATH $0 ...)"
  command -v debootstrap >/dev/null || unable "debootstrap is missing (script/setup installs it)"
  unshare --mount true 2>/dev/null || unable "mounting is not allowed here (a container without CAP_SYS_ADMIN?)"
  prepare || unable "the root in $root could not be made; see above"
  enter "$root" true || unable "the root in $root cannot be entered"
  run "$@"
}
