# Installs packages without starting or enabling the daemons in them. Sourced by script/setup.

POLICY=/usr/sbin/policy-rc.d
POLICY_MARK='# Carat is installing packages: no daemon starts'

# Runs the command while Debian's maintainer scripts must not start daemons; afterwards the policy is as it was.
without_starting_daemons() {
  local status=0
  if [ -e "$POLICY" ] && ! grep -qF "$POLICY_MARK" "$POLICY"; then
    as_root mv -T "$POLICY" "$POLICY.before-carat"
  fi
  printf '#!/bin/sh\n%s\nexit 101\n' "$POLICY_MARK" | as_root sh -c 'cat >"$1" && chmod 755 "$1"' _ "$POLICY"
  trap restore_policy EXIT
  "$@" || status=$?
  restore_policy
  trap - EXIT
  return "$status"
}

restore_policy() {
  if [ -e "$POLICY.before-carat" ]; then as_root mv -T "$POLICY.before-carat" "$POLICY"
  else as_root rm -f "$POLICY"; fi
}

# Disables the daemons that the given packages have enabled, so that they do not start with the machine either.
disable_daemons() {
  local package
  for package in "$@"; do
    case $package in
      postgresql | redis-server | nginx | haproxy | lighttpd | prometheus) as_root update-rc.d "$package" disable >/dev/null ;;
    esac
  done
}
