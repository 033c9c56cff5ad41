#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the site of docs/ into build/site, with all that its pages link to; any broken link or anchor is an error.
set -euo pipefail
# shellcheck source=scripts/common.sh
source scripts/common.sh

serve=0
case "${1:-}" in
  '') ;;
  --serve) serve=1 && shift ;;
  -h | --help)
    cat <<'TEXT'
./dev site [--serve [ADDRESS:PORT]]   docs/ as a site in build/site, searched by its own script; nothing from elsewhere

  --serve            shows it (127.0.0.1:8000) and builds anew what changes; the search needs a server, the pages don't
Variables: SITE_URL (where it will be), SITE_REPOSITORY (where the sources are): the pages then say so.
TEXT
    exit 0
    ;;
  *) misused "site: there is no option '$1', only --serve" ;;
esac
if [ $# -gt 1 ]; then misused "site: one address, not '$*'"; fi

python_environment site
export NO_MKDOCS_2_WARNING=1 # news about mkdocs itself
mkdocs=(.venv/site/bin/python -B -m mkdocs)
if [ $serve -eq 1 ]; then exec "${mkdocs[@]}" serve --dev-addr "${1:-127.0.0.1:8000}"; fi
mkdir -p build
rm -rf build/site
# Not --quiet: it would also keep --strict from seeing the warnings.
if ! "${mkdocs[@]}" build --strict >build/site.log 2>&1; then
  cat build/site.log >&2
  rm -rf build/site
  die "the site was not built: what is wrong stands above (build/site.log)"
fi
say "build/site/index.html"
