#!/bin/sh
# In an image of a Ruby, Debian's or Alpine's: installs what compiling needs, compiles Carat's parts for that Ruby into
# build/, and packs build/ for `script/release unpack`. .github/workflows/release.yml runs it:
#
#   docker run --rm --volume "$PWD:/carat" --workdir /carat ruby:3.4-slim-bookworm script/releasing/parts.sh parts.tar
set -eu
cd "$(dirname "$0")/../.."
archive=$1

if command -v apk >/dev/null; then
  apk add --no-cache bash build-base cargo clang-libclang coreutils linux-headers
  ruby script/release parts --build
else
  apt-get update -qq
  ruby script/release parts
fi
tar -cf "$archive" build
