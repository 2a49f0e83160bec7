#!/bin/bash
# Plain keep-alive GET of a small body, 64 connections: requests a second, ours against nginx's static file in the same run.
# Gate: the best ratio of the rounds is at least 1.2.
#   WORKERS=2 ROUNDS=3 SECONDS_EACH=3 keepalive_vs_nginx.sh
source "$(dirname "$0")/nginx.sh"
rounds=${ROUNDS:-3}
each=${SECONDS_EACH:-3}
mkdir -p "$folder/www"
echo "hello, world" >"$folder/www/hello"
nginx_port=$(free_port)
start_nginx "$nginx_port"
start_welkin

rate() { wrk -t1 -c64 -d"$each" "http://127.0.0.1:$1/hello" | awk '/Requests\/sec/ { print $2 }'; }
ours_body=$(curl -s "http://127.0.0.1:$welkin_port/hello")
theirs_body=$(curl -s "http://127.0.0.1:$nginx_port/hello")
[ "$ours_body" = "$theirs_body" ] || { echo "the two do not serve the same body" >&2; exit 1; }
rate "$welkin_port" >/dev/null
best=0
for _ in $(seq "$rounds"); do
  theirs=$(rate "$nginx_port")
  before=$(cpu_seconds "$welkin_pid")
  ours=$(rate "$welkin_port")
  after=$(cpu_seconds "$welkin_pid")
  awk -v o="$ours" -v t="$theirs" -v b="$before" -v a="$after" -v s="$each" 'BEGIN {
    printf "welkin %.0f/s  nginx %.0f/s  ratio %.2f  %.2f us CPU a request\n", o, t, o / t, (a - b) / (o * s) * 1e6 }'
  best=$(awk -v b="$best" -v o="$ours" -v t="$theirs" 'BEGIN { r = o / t; print (r > b ? r : b) }')
done
awk -v b="$best" 'BEGIN { ok = (b >= 1.2); printf "best ratio %.2f, gate 1.20: %s\n", b, (ok ? "ok" : "MISSED"); exit !ok }'
