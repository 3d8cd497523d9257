/** A JSON-RPC response: a result or an error. */
export interface Answer<T> {
  readonly result?: T;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Calls a method with one parameter. */
export async function callMethod<T>(gatewayUrl: string, method: string, param: unknown): Promise<Answer<T>> {
  const response = await fetch(gatewayUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [param] }),
  });
  return (await response.json()) as Answer<T>; // a single call returns an object
}
