#!/bin/sh
# Installs a gem in the images of some Rubies, Debian's or Alpine's, without a network or a compiler, and serves with it:
#
#   script/release rack
#   script/releasing/try_in_images.sh slim-bookworm pkg/carat-0.1.0-x86_64-linux-gnu.gem 3.3 3.4
set -eu
cd "$(dirname "$0")/../.."

tag=$1 gem=$2
shift 2
for ruby; do
  docker run --rm --network none --volume "$PWD:/carat:ro" --workdir /carat "ruby:$ruby-$tag" \
    ruby script/release try "$gem" pkg/rack/*.gem
done
