/** What a person sees once the service listens: where, and lines to copy that work with the models on offer. */

export type Greeting = { url: string; workerPids: number[]; examplesOffered: boolean; asksForToken?: boolean }

const EXAMPLE = '{"model": "baseline_forecast_v1", "parameters": {"scenario": "high_inflation", "region": "AU"}}'
const OWN = '{"model": "<one of your models>", "parameters": {}}'

export function greeting({ url, workerPids, examplesOffered, asksForToken }: Greeting): string {
  const workers = workerPids.length === 0 ? 'no workers' : `worker process ${workerPids.join(', ')}`
  const token = asksForToken ? ` -H "authorization: Bearer $HOLDFAST_TOKEN"` : ''
  return `
Holdfast listens on ${url} (${workers}).

The dashboard is at ${url}/ui/. Or try:

  curl -s ${url}/runs${token} -H 'content-type: application/json' \\
    -d '${examplesOffered ? EXAMPLE : OWN}'

  curl -s '${url}/runs?status=SUCCEEDED'${token}      # then GET /runs/<run_id>/result

Stop with Ctrl-C.

`
}
