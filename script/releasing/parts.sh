#!/bin/sh
# In an image of a Ruby, Debian's or Alpine's: installs what compiling needs, and compiles Carat's parts for that Ruby
# into build/. .github/workflows/release.yml runs it:
#
#   docker run --rm --volume "$PWD:/carat" --workdir /carat ruby:3.4-slim-bookworm script/releasing/parts.sh
set -eu
cd "$(dirname "$0")/../.."

if command -v apk >/dev/null; then
  apk add --no-cache bash build-base cargo clang-libclang coreutils linux-headers
  exec ruby script/release parts --build
fi
apt-get update -qq
exec ruby script/release parts
