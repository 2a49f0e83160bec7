# Shared by the scripts beside it; not a command. Sets `root`, the top of the tree, whatever directory we are called from.
set -euo pipefail
export LC_ALL=C.UTF-8
# shellcheck disable=SC2034  # read by the scripts
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename "$0"): $*"
  exit 1
}

# Runs a command with root's rights: as we are, or through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this step needs root and sudo is not installed; run as root: $*"
  fi
}

# Compiling takes 1 to 1.5 GiB at worst: not more jobs than memory carries.
jobs() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  local fit=$((memory_gib * 2 / 3))
  [ "$fit" -ge 1 ] || fit=1
  [ "$cores" -lt "$fit" ] && echo "$cores" || echo "$fit"
}

# The tool chain of the web app wants this Node; where the machine's is older, setup brings one that npm carries.
node_wanted=20.19
own_node="$root/build/node/node_modules/node/bin"
node_is_new() {
  command -v node >/dev/null &&
    [ "$(printf '%s\n%s\n' "$node_wanted" "$(node -p process.versions.node)" | sort -V | head -n 1)" = "$node_wanted" ]
}
use_node() { node_is_new || export PATH="$own_node:$PATH"; }
