#!/bin/bash
# Download of one large file over loopback, plain (sendfile) and TLS, ours against nginx in the same run, one connection.
# Gate: the best time of ours is at most nginx's best time in each arm.
#   BYTES=1073741824 ROUNDS=3 download_vs_nginx.sh
source "$(dirname "$0")/nginx.sh"
bytes=${BYTES:-1073741824}
rounds=${ROUNDS:-3}
workers=1
mkdir -p "$folder/www"
head -c "$bytes" /dev/urandom >"$folder/www/file"
certificate
plain_nginx=$(free_port)
start_nginx "$plain_nginx"
start_welkin --file "$folder/www/file"
plain_welkin=$welkin_port
sum() { curl -sk "$1" | sha256sum; }
want=$(sha256sum <"$folder/www/file")

seconds() { curl -sk -o /dev/null -w '%{time_total}\n' "$1"; }
missed=0
compare() { # NAME OURS THEIRS
  [ "$(sum "$2")" = "$want" ] || { echo "$1: the bytes differ" >&2; exit 1; }
  local ours=999 theirs=999 t ours_cpu theirs_cpu
  ours_cpu=$(cpu_seconds "$welkin_pid")
  theirs_cpu=$(cpu_seconds "$nginx_pid")
  for _ in $(seq "$rounds"); do
    t=$(seconds "$3"); theirs=$(echo -e "$theirs\n$t" | sort -g | head -1)
    t=$(seconds "$2"); ours=$(echo -e "$ours\n$t" | sort -g | head -1)
  done
  awk -v n="$1" -v o="$ours" -v t="$theirs" -v b="$bytes" -v r="$rounds" -v ob="$ours_cpu" -v tb="$theirs_cpu" \
    -v oa="$(cpu_seconds "$welkin_pid")" -v ta="$(cpu_seconds "$nginx_pid")" 'BEGIN {
    ok = (t >= o)
    printf "%-6s welkin %.3f s (%.2f GB/s, %.2f s CPU)  nginx %.3f s (%.2f GB/s, %.2f s CPU)  speed ratio %.2f: %s\n",
           n, o, b / o / 1e9, (oa - ob) / r, t, b / t / 1e9, (ta - tb) / r, t / o, (ok ? "ok" : "MISSED"); exit !ok }' || missed=1
}
compare plain "http://127.0.0.1:$plain_welkin/file" "http://127.0.0.1:$plain_nginx/file"
for pid in "${children[@]}"; do
  kill -TERM "$pid"
  wait "$pid" || true
done
children=()
tls_nginx=$(free_port)
start_nginx "$tls_nginx" tls
start_welkin --file "$folder/www/file" --tls "$folder/cert.pem" "$folder/key.pem"
compare TLS "https://127.0.0.1:$welkin_port/file" "https://127.0.0.1:$tls_nginx/file"
exit $missed
