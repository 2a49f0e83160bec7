# Sourced by the load scripts: starts nginx and http_hello_server on free ports in a folder that goes away at the end.
# nginx is the yardstick of the same run: absolute figures of a shared machine say little.
set -euo pipefail

build=${WELKIN_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release}
workers=${WORKERS:-2}
folder=$(mktemp -d /tmp/welkin-bench-XXXXXX)
chmod 755 "$folder"
children=()

finish() {
  for pid in "${children[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${children[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$folder/key.pem" -out "$folder/cert.pem" \
    -days 1 -subj /CN=localhost >/dev/null 2>&1
}

# start_nginx PORT [tls]: serves $folder/www, sets $nginx_pid
start_nginx() {
  local tls=""
  [ "${2:-}" = tls ] && tls="ssl_certificate $folder/cert.pem; ssl_certificate_key $folder/key.pem;"
  mkdir -p "$folder/www" "$folder/tmp"
  cat >"$folder/nginx.conf" <<CONF
daemon off;
worker_processes $workers;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  client_body_temp_path $folder/tmp; proxy_temp_path $folder/tmp; fastcgi_temp_path $folder/tmp;
  uwsgi_temp_path $folder/tmp; scgi_temp_path $folder/tmp;
  server { listen 127.0.0.1:$1 ${2:+ssl} reuseport; root $folder/www; $tls }
}
CONF
  nginx -p "$folder" -c "$folder/nginx.conf" -e "$folder/error.log" &
  nginx_pid=$!
  children+=("$nginx_pid")
  for _ in $(seq 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 0.1
  done
  echo "nginx does not start: $(cat "$folder/error.log")" >&2
  exit 1
}

# start_welkin OPTION...: sets $welkin_port and $welkin_pid
start_welkin() {
  local out="$folder/port.$RANDOM"
  "$build/benches/http_hello_server" --threads "$workers" "$@" >"$out" &
  welkin_pid=$!
  children+=("$welkin_pid")
  for _ in $(seq 50); do
    [ -s "$out" ] && break
    sleep 0.1
  done
  welkin_port=$(cat "$out")
}

# cpu_seconds PID: user and system time so far, of the process and of its children
cpu_seconds() {
  local pid all="/proc/$1/stat"
  for pid in $(cat "/proc/$1/task/"*/children 2>/dev/null); do all="$all /proc/$pid/stat"; done
  cat $all | awk -v hz="$(getconf CLK_TCK)" '{ sum += $14 + $15 } END { print sum / hz }'
}
