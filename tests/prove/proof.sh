# What the proofs in shell share: they run in the root and know the build, the seed and their size.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
seed=${PROVE_SEED:-$RANDOM}
status=0

# scaled N [LEAST]: N times PROVE_SCALE.
scaled() { awk -v n="$1" -v least="${2:-1}" -v scale="${PROVE_SCALE:-1}" 'BEGIN { n = int(n * scale); print n < least ? least : n }'; }
