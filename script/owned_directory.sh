# Directories that Carat's scripts may delete: those that carry the mark of the script that made them. Sourced by
# script/debian_root.sh.
#
# Each function prints one sentence on standard error and returns 1 when it refuses.

OWNER_MARK=.carat-made-this

refuse() { printf 'refused: %s\n' "$*" >&2; return 1; }

# Whether the directory carries the mark of its maker ($2).
is_owned() {
  local directory=$1 maker=$2
  [ ! -L "$directory" ] && [ -f "$directory/$OWNER_MARK" ] && [ "$(cat "$directory/$OWNER_MARK")" = "$maker" ]
}

is_empty() { [ -z "$(find "$1" -mindepth 1 -maxdepth 1 -print -quit)" ]; }

# Prints the mount points at and below the directory.
mounts_below() {
  local directory
  directory=$(realpath -- "$1") || return
  awk '{ print $5 }' /proc/self/mountinfo | sed 's/\\040/ /g' |
    while IFS= read -r point; do
      case $point in "$directory" | "$directory"/*) printf '%s\n' "$point" ;; esac
    done
}

# Makes the directory and marks it. An existing one must be empty or carry the same mark.
make_owned() {
  local directory=$1 maker=$2
  if [ -L "$directory" ]; then refuse "$directory is a symbolic link"; return 1; fi
  mkdir -p -- "$directory" || return
  if ! is_owned "$directory" "$maker" && ! is_empty "$directory"; then
    refuse "$directory was not made by $maker; name an empty directory or one that does not exist"
    return 1
  fi
  printf '%s\n' "$maker" >"$directory/$OWNER_MARK"
}

# Deletes the directory, if it exists, without following a mount.
remove_owned() {
  local directory=$1 maker=$2 mounts
  if [ ! -e "$directory" ] && [ ! -L "$directory" ]; then return 0; fi
  if ! is_owned "$directory" "$maker"; then
    refuse "$directory was not made by $maker, so it is not deleted"
    return 1
  fi
  mounts=$(mounts_below "$directory") || return
  if [ -n "$mounts" ]; then
    refuse "$directory is not deleted while something is mounted in it: $(printf '%s' "$mounts" | head -n 1)"
    return 1
  fi
  rm -rf --one-file-system -- "$directory"
}
