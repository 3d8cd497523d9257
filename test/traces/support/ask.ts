/** What `trace_filter` answers: one of the two. */
export interface FilterAnswer {
  readonly id: number;
  readonly result?: readonly AnsweredTrace[];
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Of a trace in an answer, what tests look at by name. */
export interface AnsweredTrace {
  readonly blockHash: string;
  readonly blockNumber: number;
}

/** Requests that a batch may have (docs/decisions/gateway.md). */
const BATCH_ENTRIES = 100;

/** Asks for traces with each of the filters, in batches; the answers in the same order. */
export async function askAll(gatewayUrl: string, filters: readonly unknown[]): Promise<FilterAnswer[]> {
  const answers: FilterAnswer[] = [];
  for (let first = 0; first < filters.length; first += BATCH_ENTRIES) {
    const batch = filters
      .slice(first, first + BATCH_ENTRIES)
      .map((filter, i) => ({ jsonrpc: '2.0', id: first + i, method: 'trace_filter', params: [filter] }));
    answers.push(...((await post(gatewayUrl, batch)) as FilterAnswer[])); // a batch is answered by a list
  }
  return answers;
}

export async function ask(gatewayUrl: string, filter: unknown): Promise<FilterAnswer> {
  const call = { jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter] };
  return (await post(gatewayUrl, call)) as FilterAnswer; // a call is answered by an object
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}
