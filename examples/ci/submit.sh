#!/usr/bin/env bash
# Submits a run from CI, once per commit, and prints its id. Needs Bash 4 and curl, nothing else.
#
#   submit.sh MODEL [PARAMETERS]        PARAMETERS is a JSON object; {} when not given
#
# The idempotency key comes from the commit, so that a job that is started again, or a request that is sent again because its
# answer was lost, finds the run it made before instead of making a second one.
#
#   HOLDFAST_URL               http://localhost:4600 when not set
#   HOLDFAST_TOKEN             sent as a bearer token when set
#   HOLDFAST_KEY               the key, instead of the one made from the commit
#   HOLDFAST_WAIT              1: wait for the end of the run, and fail unless it succeeded
#   HOLDFAST_TIMEOUT_SECONDS   of one request; 120 when not set
#   HOLDFAST_SLEEP             the command that waits between requests; sleep when not set
#
# Prints RUN_ID=<id> (and JOB_ID=<id>, for scripts that know runs as jobs), MATCHED=true|false, and with HOLDFAST_WAIT=1
# STATUS=<state>. Progress, warnings (`warning: …`, such as a quota that is nearly used up) and errors go to the other stream.
#
# Ends with 0 accepted (or succeeded), 1 refused, 2 used wrongly, 3 a quota or cost limit: never retried, 4 the service could not be
# reached or stayed busy: the run may exist, start the job again, 5 the run failed or was cancelled.
set -euo pipefail

url="${HOLDFAST_URL:-http://localhost:4600}"
url="${url%/}"
timeout="${HOLDFAST_TIMEOUT_SECONDS:-120}"
sleep_command="${HOLDFAST_SLEEP:-sleep}"
retries=3

say() { printf '%s\n' "$*" >&2; }

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  say 'usage: submit.sh MODEL [PARAMETERS]'
  exit 2
fi
model="$1"
parameters="${2:-"{}"}"
case "$model" in
  *[!A-Za-z0-9._-]*) say "a model has letters, digits, dots, dashes and underscores in its name, not: $model"; exit 2 ;;
esac

if [ -n "${HOLDFAST_KEY:-}" ]; then
  key="$HOLDFAST_KEY"
elif [ -n "${GITHUB_SHA:-}" ]; then
  key="gh-${GITHUB_REPOSITORY:-unknown}-${GITHUB_SHA}"
elif [ -n "${CI_COMMIT_SHA:-}" ]; then
  key="gitlab-${CI_PROJECT_PATH:-unknown}-${CI_COMMIT_SHA}"
else
  key="manual-$(date +%Y%m%d-%H%M%S)-$$"
fi
say "idempotency key: $key"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
answer="$scratch/answer"
headers="$scratch/headers"

# The token goes through a file descriptor, so that no list of processes shows it.
auth() { if [ -n "${HOLDFAST_TOKEN:-}" ]; then printf 'header = "Authorization: Bearer %s"\n' "$HOLDFAST_TOKEN"; fi; }

# Sends one request; sets `status`, to 000 when there was no whole answer.
request() {
  : >"$answer"
  : >"$headers"
  status="$(curl --silent --show-error --max-time "$timeout" --output "$answer" --dump-header "$headers" \
    --write-out '%{http_code}' --config <(auth) "$@")" || status=000
}

# The first value of a name in the answer. The names asked for here come before everything that users wrote.
first() { grep -oE "\"$1\":(\"([^\"\\\\]|\\\\.)*\"|[^,}]*)" "$answer" | head -n 1 | sed -E "s/^\"$1\"://; s/^\"//; s/\"$//; s/\\\\\"/\"/g"; }

# What the service warns of, a line each. These names come after everything that users wrote, so the last ones are the service's own.
warnings() {
  local text='"([^"\\]|\\.)*"'
  {
    grep -oE "\"quota_warnings\":\[($text,?)*\]" "$answer" | tail -n 1 | sed 's/^"quota_warnings"://' | grep -oE "$text"
    grep -oE "\"cost_limit_warning\":$text" "$answer" | tail -n 1 | sed 's/^"cost_limit_warning"://'
  } | sed -E 's/^"//; s/"$//; s/\\"/"/g' || true
}

# How long the service asks to be left alone, in whole seconds.
retry_after() { sed -n 's/^[Rr]etry-[Aa]fter:[[:space:]]*\([0-9]\{1,4\}\)[[:space:]]*$/\1/p' "$headers" | tail -n 1; }

# Sends a request again, the same to the byte, after 2, 4 and 8 seconds while there is hope.
persist() {
  local delay=2 attempt asked
  for ((attempt = 1; ; attempt++)); do
    request "$@"
    case "$status" in
      000 | 429 | 502 | 503 | 504) ;;
      *) return 0 ;;
    esac
    if [ "$(first code)" = quota-exceeded ] || [ "$(first code)" = cost-limit-exceeded ]; then return 0; fi
    if [ "$attempt" -gt "$retries" ]; then return 0; fi
    asked="$(retry_after)"
    if [ "${asked:-0}" -lt "$delay" ]; then asked="$delay"; fi
    say "no success (${status/000/no answer}), sending it again in $asked s"
    "$sleep_command" "$asked"
    delay=$((delay * 2))
  done
}

# Says why it was refused and ends.
refused() {
  local code detail
  code="$(first code)"
  detail="$(first detail)"
  case "$status" in
    000 | 429 | 502 | 503 | 504)
      if [ "$code" != quota-exceeded ] && [ "$code" != cost-limit-exceeded ]; then
        say "gave up: ${detail:-no answer from $url}. The run may exist: start this again with the key $key"
        exit 4
      fi
      ;;
  esac
  say "refused ($status${code:+ $code}): ${detail:-see the answer of the service}"
  case "$code" in quota-exceeded | cost-limit-exceeded) exit 3 ;; *) exit 1 ;; esac
}

escaped="${key//\\/\\\\}"
escaped="${escaped//\"/\\\"}"
body="{\"model\":\"$model\",\"idempotency_key\":\"$escaped\",\"parameters\":$parameters}"
printf '%s' "$body" >"$scratch/body"
persist --request POST "$url/runs" --header 'Content-Type: application/json' --data-binary "@$scratch/body"
case "$status" in
  201) matched=false ;;
  200) matched=true ;;
  *) refused ;;
esac
run_id="$(first run_id)"
if [ "$matched" = true ]; then say "matched the existing run $run_id"; else say "created the run $run_id"; fi
while IFS= read -r warning; do say "warning: $warning"; done < <(warnings)
printf 'RUN_ID=%s\nJOB_ID=%s\nMATCHED=%s\n' "$run_id" "$run_id" "$matched"

if [ "${HOLDFAST_WAIT:-0}" = 1 ]; then
  # The service holds the request until the run ends, for as long as we ask and at most a minute.
  seconds="${timeout%.*}"
  if [ "${seconds:-0}" -gt 60 ]; then held=55; else held=$((${seconds:-0} / 2)); fi
  while :; do
    persist "$url/runs/$run_id" --header "Prefer: wait=$held"
    if [ "$status" != 200 ]; then refused; fi
    state="$(first status)"
    case "$state" in
      PENDING | RUNNING) "$sleep_command" 1 ;;
      *) break ;;
    esac
  done
  printf 'STATUS=%s\n' "$state"
  if [ "$state" != SUCCEEDED ]; then
    say "the run ended $state: $url/runs/$run_id"
    exit 5
  fi
fi
