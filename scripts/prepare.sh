# Sourced by the other scripts: brings a clone into a state where the compiled program can run, and does nothing when
# it already is. Sets `project` to the project's folder. Progress goes to standard error.

project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The compiler and the lint with types are programs in Go that keep most of what they make until they end: looking for
# garbage four times less often saves a seventh of their processor time.
export GOGC="${GOGC:-400}"

fail() {
  echo "lendstream: $*" >&2
  exit 1
}

# Prints what a script does, and ends it, when one of its arguments asks for that. Nothing is installed or built for it.
help_if_asked() {
  local name="$1" word
  shift
  for word in "$@"; do
    case "$word" in
      --help | -h)
        cat "$project/scripts/usage/$name.txt"
        exit 0
        ;;
    esac
  done
}

# Puts another version of Node.js first on the PATH. npm's package `node` has the programs for each platform.
use_node() {
  local version="$1" folder="$project/.cache/node-$1"
  local bin="$folder/node_modules/node/bin" output
  [[ "$version" =~ ^[0-9]+(\.[0-9]+){0,2}$ ]] || fail "--node takes a version such as 24, not \"$version\""
  if [ ! -x "$bin/node" ]; then
    echo "Fetching Node.js $version (once) ..." >&2
    # The package fetches the program for this machine when it is installed. It goes nowhere else than this folder.
    output=$(npm install --prefix "$folder" --no-save --no-package-lock --ignore-scripts=false --no-fund --no-audit \
      --loglevel=error "node@$version" 2>&1) && [ -x "$bin/node" ] || {
      rm -rf "$folder"
      fail "Node.js $version cannot be had from npm: $(head -n 2 <<<"$output" | tail -n 1)"
    }
  fi
  export PATH="$bin:$PATH"
  echo "On Node.js $(node --version)" >&2
}

check_node() {
  command -v node >/dev/null || fail "Node.js 20.20 or newer is needed; node was not found on the PATH"
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 20) ? 0 : 1)' ||
    fail "Node.js 20.20 or newer is needed; this is $(node --version)"
  command -v npm >/dev/null || fail "npm was not found on the PATH"
}

# Installs what the lock file of a folder says, also what only a build needs where NODE_ENV says production.
install_locked() {
  (cd "$1" && npm ci --include=dev --prefer-offline --no-fund --no-audit --loglevel=error >&2) || fail "npm ci failed"
}

# Installs when package-lock.json is not the one that node_modules was made from.
install_packages() {
  local stamp="$project/node_modules/.lendstream-lock"
  cmp -s "$project/package-lock.json" "$stamp" && return
  echo "Installing packages (once) ..." >&2
  install_locked "$project"
  cp "$project/package-lock.json" "$stamp"
}

# Whether the packages for tests and checks are there, of this version or an earlier one.
has_all_packages() {
  [ -d "$project/node_modules/mocha" ]
}

# The same without what only tests and checks need. They are made aside: npm ci first removes what is there.
install_packages_to_run() {
  local stamp="$project/node_modules/.lendstream-start-lock" folder="$project/.cache/start-packages" begin=$SECONDS
  cmp -s "$project/package-lock.json" "$stamp" && return
  echo "Installing packages (once) ..." >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  node "$project/scripts/start-packages.js" "$project" "$folder" || fail "the packages cannot be listed"
  cp "$project/.npmrc" "$folder/"
  ln -s ../../../scripts/without-telemetry "$folder/scripts/without-telemetry"
  install_locked "$folder"
  rm -rf "$project/node_modules"
  mv "$folder/node_modules" "$project/node_modules"
  rm -rf "$folder"
  cp "$project/package-lock.json" "$stamp"
  echo "  Installed them, $((SECONDS - begin)) s" >&2
}

# Runs a command in the project, and prints a line when it has succeeded.
build_step() {
  local line="$1" begin=$SECONDS
  (cd "$project" && bash -c "$2" >&2) && echo "  $line, $((SECONDS - begin)) s" >&2
}

# Whether a source is newer than what was made of it.
is_outdated() {
  local stamp="$1"
  shift
  [ ! -f "$stamp" ] || [ -n "$(find "$@" -newer "$stamp" -print -quit)" ]
}

# Removes what was compiled from a source that is gone.
remove_stale_files() {
  (cd "$project/dist" && find . -path ./admin -prune -o -name '*.js' -print) | while read -r compiled; do
    [ -f "$project/${compiled%.js}.ts" ] || rm -f "$project/dist/$compiled" "$project/dist/$compiled.map"
  done
}

# Compiles when a source is newer than the last build. In place, so that a service running from it is not disturbed.
build() {
  local stamp="$project/dist/.built"
  is_outdated "$stamp" "$project/src" "$project/scripts" "$project/test" "$project/tsconfig.json" || return 0
  # Side by side, since none reads what another one writes.
  echo "Building (once after each change) ..." >&2
  local compiled bundled
  build_step "Compiled the program and its tests" 'node_modules/.bin/tsc && node_modules/.bin/tsc -p src/client' &
  compiled=$!
  build_step "Made the admin page" 'node_modules/.bin/tsc -p src/admin &&
    node_modules/.bin/vite build src/admin --logLevel warn' &
  bundled=$!
  wait "$compiled" || fail "the build failed"
  wait "$bundled" || fail "the build of the admin page failed"
  remove_stale_files
  touch "$stamp"
}

# Compiles the program alone, without checking types: that is for the tests of a change.
build_to_run() {
  local stamp="$project/dist/.built-to-run"
  is_outdated "$stamp" "$project/src" "$project/scripts" "$project/tsconfig.json" "$project/tsconfig.start.json" || return 0
  echo "Building (once after each change) ..." >&2
  build_step "Compiled the program" 'node_modules/.bin/tsc -p tsconfig.start.json --noCheck' || fail "the build failed"
  remove_stale_files
  touch "$stamp"
}

# Makes the admin page beside everything else: the program runs without it.
build_page_meanwhile() {
  local stamp="$project/dist/.built-page"
  is_outdated "$stamp" "$project/src" || return 0
  (build_step "Made the admin page" 'node_modules/.bin/vite build src/admin --logLevel warn' && touch "$stamp") ||
    echo "lendstream: the admin page could not be made; the service runs without it" >&2 &
}

# Exports DATA_DIR as an absolute path. A relative one is meant from where the caller stands; the default lies in the
# project.
find_data_folder() {
  case "${DATA_DIR:-}" in
    '') export DATA_DIR="$project/data" ;;
    /*) ;;
    *) export DATA_DIR="$PWD/$DATA_DIR" ;;
  esac
}

prepare() {
  check_node
  install_packages
  build
}

# Prepares what runs or asks the service, in a third of the time, unless everything is installed anyway.
prepare_to_run() {
  if has_all_packages; then
    prepare
    return
  fi
  check_node
  install_packages_to_run
  [ "${1:-}" = with-page ] && build_page_meanwhile
  build_to_run
}
