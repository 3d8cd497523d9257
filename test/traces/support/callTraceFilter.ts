/** A response of `trace_filter`: a result or an error. */
export interface FilterAnswer {
  readonly id: number;
  readonly result?: readonly AnsweredTrace[];
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Returns a response without its id, for comparison with a computed one. */
export const withoutId = ({ result, error }: FilterAnswer): object =>
  error === undefined ? { result } : { error };

/** The members of a trace that tests read by name. */
export interface AnsweredTrace {
  readonly blockHash: string;
  readonly blockNumber: number;
}

/** Maximum number of calls in a batch (docs/internals/decisions/gateway.md). */
const BATCH_ENTRIES = 100;

/** Calls `trace_filter` with each filter, in batches; returns the responses in the same order. */
export async function callTraceFilterAll(
  gatewayUrl: string,
  filters: readonly unknown[],
): Promise<FilterAnswer[]> {
  const answers: FilterAnswer[] = [];
  for (let first = 0; first < filters.length; first += BATCH_ENTRIES) {
    const batch = filters
      .slice(first, first + BATCH_ENTRIES)
      .map((filter, i) => ({ jsonrpc: '2.0', id: first + i, method: 'trace_filter', params: [filter] }));
    answers.push(...((await post(gatewayUrl, batch)) as FilterAnswer[])); // a batch returns a list
  }
  return answers;
}

export async function callTraceFilter(gatewayUrl: string, filter: unknown): Promise<FilterAnswer> {
  const call = { jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter] };
  return (await post(gatewayUrl, call)) as FilterAnswer; // a single call returns an object
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}
