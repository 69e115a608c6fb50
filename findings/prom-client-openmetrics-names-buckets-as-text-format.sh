#!/usr/bin/env bash
# prom-client 15.1.3: a bucket of 1 has the label le="1" in OpenMetrics, too, where the format asks for le="1.0", as Go's client writes it.
# Two programs that observe the same histogram so make two series of one bucket. A gauge that is not a number is written Nan, which is
# neither JavaScript's nor the formats' spelling.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts prom-client@15.1.3
cat > seen.mjs <<'JS'
import client from "prom-client";
const registry = new client.Registry(client.Registry.OPENMETRICS_CONTENT_TYPE);
new client.Histogram({ name: "h", help: "h", buckets: [1, 2.5], registers: [registry] }).observe(1);
new client.Gauge({ name: "g", help: "g", registers: [registry] }).set(Number.NaN);
console.log((await registry.metrics()).split("\n").filter((line) => /le=|^g /.test(line)).join("\n"));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
h_bucket{le="1"} 1
h_bucket{le="2.5"} 1
h_bucket{le="+Inf"} 1
g Nan
END
echo "as described"
