# How quick builds are compiled: in half the time, for what runs a little slower. script/setup and script/test source it.

# A full build leaves the mark `source`. Until there is one for the Ruby ($1), a quick build serves and is tested.
has_full_build() {
  local abi
  abi=$("$1" -rrbconfig -e 'puts RbConfig::CONFIG.values_at("ruby_version", "arch").join("-")')
  [ -e "build/$abi/source" ]
}

use_light_profile() {
  export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=2
}
