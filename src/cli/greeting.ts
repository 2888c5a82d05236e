/** What a person sees once the service listens. */

export function greeting(url: string, workerPids: number[]): string {
  const workers = workerPids.length === 0 ? 'no workers' : `worker process ${workerPids.join(', ')}`
  return `
Holdfast listens on ${url} (${workers}). Try:

  curl -s ${url}/runs -H 'content-type: application/json' \\
    -d '{"model": "baseline_forecast_v1", "parameters": {"scenario": "high_inflation", "region": "AU"}}'

  curl -s ${url}/runs?status=SUCCEEDED      # then GET /runs/<run_id>/result

Stop with Ctrl-C.

`
}
