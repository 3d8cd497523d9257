export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes JSON-RPC calls. Rejects if the response is an error. */
export interface Requester {
  request(request: RpcRequest, options?: CallOptions): Promise<unknown>;
}

/** Accepts any client that makes calls, such as viem's, regardless of its own method types. */
export interface AnyRequester {
  readonly request: (request: never, options?: never) => Promise<unknown>;
  /** Milliseconds. */
  readonly pollingInterval?: number | undefined;
}
