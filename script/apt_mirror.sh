# The mirrors that apt uses on this machine. Sourced by script/debian_root.sh.

# Prints the URIs of apt's sources, in both formats of its files; $1 is apt's directory.
apt_uris() {
  local directory=$1 file
  for file in "$directory"/sources.list.d/*.sources; do
    if [ -f "$file" ]; then sed -nE 's/^URIs:[ \t]*//p' "$file" | tr -s ' \t' '\n\n'; fi
  done
  for file in "$directory"/sources.list "$directory"/sources.list.d/*.list; do
    if [ -f "$file" ]; then sed -nE 's/^deb[ \t]+(\[[^]]*\][ \t]+)?([^ \t]+).*/\2/p' "$file"; fi
  done
}

# Prints the first of apt's URIs that matches the pattern; nothing when none does.
apt_mirror() {
  local pattern=$1 directory=${2:-/etc/apt}
  apt_uris "$directory" | grep -E -m 1 "$pattern" || true
}
