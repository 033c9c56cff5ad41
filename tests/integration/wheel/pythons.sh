#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: pythons.sh CHECKOUT WHEEL_FOLDER OTHERS
# The wheel in each Python from 3.9 on that this machine has: in the search path, and pyenv's.
set -euo pipefail
checkout=$1 wheel_folder=$2 others=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tried=''
for python in $(compgen -c python3. | sort -u) "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
  version=$("$python" -c 'import ensurepip, sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
  case " $tried 3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 " in *" $version "*) continue ;; esac
  bash "$here/download.sh" "$checkout" "$others" "$python" mpich
  code=0
  bash "$here/empty_root.sh" "$wheel_folder" "$others" "$python" mpich || code=$?
  if [ $code -ne 0 ]; then exit $code; fi
  tried+=" $version"
done
echo "tried:$tried"
[ -n "$tried" ]
