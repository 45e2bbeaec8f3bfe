# Lets script/debian_root.sh make a root for another processor: packages are unpacked, and their scripts, which QEMU would
# run one by one, do not run. Sourced after it by script/aarch64, which sets
#
#   architecture   Debian's name of the processor, such as arm64

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

make_empty_system() {
  local inside=$1 name
  mkdir -p "$inside"/usr/{bin,sbin,lib} "$inside"/etc/apt/{apt.conf,preferences}.d "$inside"/var/lib/{apt/lists/partial,dpkg} \
    "$inside/var/cache/apt/archives/partial"
  for name in bin sbin lib; do ln -s "usr/$name" "$inside/$name"; done
  touch "$inside/var/lib/dpkg/status"
}

install_packages() {
  local inside=$1 package name; shift
  write_apt_settings "$inside"
  apt_of "$inside" update -qq
  apt_of "$inside" install --download-only -y -qq --no-install-recommends '?essential' "$@" || return
  for package in "$inside"/var/cache/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$inside" || return
    rm "$package"
  done
  # What the script of base-passwd would do.
  for name in passwd group; do cp "$inside/usr/share/base-passwd/$name.master" "$inside/etc/$name"; done
}

# Runs apt-get of this machine with the sources, lists, and settings of the root alone.
apt_of() {
  local inside=$1; shift
  APT_CONFIG=$inside/etc/apt/root.conf apt-get "$@"
}

write_apt_settings() {
  local inside=$1
  sed -i "s|^deb http|deb [signed-by=$KEYRING] http|" "$inside/etc/apt/sources.list"
  printf '%s;\n' "Dir \"$inside\"" "APT::Sandbox::User \"root\"" "APT::Architecture \"$architecture\"" \
    "#clear APT::Architectures" "APT::Architectures:: \"$architecture\"" \
    >"$inside/etc/apt/root.conf"
}
