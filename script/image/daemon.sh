# A root of Debian 13, and a Docker daemon of its own that builds images of deploy/docker. Sourced by script/try_image and
# script/build_image, which set
#
#   root             the directory of the root file system
#   maker            the script whose mark it carries
#   wanted_packages  a function that prints the names of its packages
suite=trixie title="Docker"

# Makes the root, and starts the daemon in the directory `work`. Both the daemon and the directory end with this shell, and
# so do mounts.
start_docker() {
  command -v dockerd >/dev/null && command -v docker >/dev/null || unable "dockerd is missing (apt-get install docker.io)"
  run_in_debian_root true
  work=$(mktemp -d /var/tmp/carat-image-XXXXXX)
  export DOCKER_HOST=unix://$work/socket DOCKER_BUILDKIT=0
  unshare --mount --propagation private dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" \
    --pidfile "$work/pid" --iptables=false --bridge=none >"$work/log" 2>&1 &
  daemon=$!
  trap 'kill "$daemon"; wait "$daemon" || true; rm -rf "$work"' EXIT
  for _ in $(seq 100); do
    if docker info >/dev/null 2>&1; then break; fi
    sleep 0.2
  done
  docker info >/dev/null 2>&1 || unable "dockerd does not start: $(tail -n 1 "$work/log")"
}
