# Sourced by the other scripts: brings a clone into a state where the compiled program can run, and does nothing when
# it already is. Sets `project` to the project's folder. Progress goes to standard error.

project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

fail() {
  echo "lendstream: $*" >&2
  exit 1
}

check_node() {
  command -v node >/dev/null || fail "Node.js 20.20 or newer is needed; node was not found on the PATH"
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 20) ? 0 : 1)' ||
    fail "Node.js 20.20 or newer is needed; this is $(node --version)"
  command -v npm >/dev/null || fail "npm was not found on the PATH"
}

# Installs when package-lock.json is not the one that node_modules was made from.
install_packages() {
  local stamp="$project/node_modules/.lendstream-lock"
  cmp -s "$project/package-lock.json" "$stamp" && return
  echo "Installing packages (once) ..." >&2
  (cd "$project" && npm ci --no-fund --no-audit --loglevel=error >&2) || fail "npm ci failed"
  cp "$project/package-lock.json" "$stamp"
}

# Compiles when a source is newer than the last build. In place, so that a service running from it is not disturbed; what
# was compiled from a source that is gone is removed.
build() {
  local stamp="$project/dist/.built"
  if [ -f "$stamp" ] && [ -z "$(find "$project/src" "$project/scripts" "$project/test" "$project/tsconfig.json" \
    -newer "$stamp" -print -quit)" ]; then
    return
  fi
  echo "Building ..." >&2
  (cd "$project" && node_modules/.bin/tsc >&2) || fail "the build failed"
  (cd "$project" && node_modules/.bin/tsc -p src/admin >&2 && node_modules/.bin/vite build src/admin --logLevel warn >&2) ||
    fail "the build of the admin page failed"
  (cd "$project/dist" && find . -path ./admin -prune -o -name '*.js' -print) | while read -r compiled; do
    [ -f "$project/${compiled%.js}.ts" ] || rm -f "$project/dist/$compiled" "$project/dist/$compiled.map"
  done
  touch "$stamp"
}

prepare() {
  check_node
  install_packages
  build
}
