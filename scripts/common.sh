# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts: the repository's root as the working folder, and what scripts/bootstrap chose.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -e build/env.sh ]; then
  echo "Run scripts/bootstrap first: it finds the compiler and CMake that the other scripts use." >&2
  exit 1
fi
set -a
# shellcheck disable=SC1091  # written by scripts/bootstrap
. build/env.sh
set +a
JOBS=${JOBS:-$(nproc)}
