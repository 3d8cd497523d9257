export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes JSON-RPC calls. A call rejects if the response is an error. */
export interface Requester {
  request(request: RpcRequest, options?: CallOptions): Promise<unknown>;
}

/** Any client that makes JSON-RPC calls, such as viem's, whatever types its methods have. */
export interface AnyRequester {
  readonly request: (request: never, options?: never) => Promise<unknown>;
  /** Interval in milliseconds at which `subscribeTraces` polls for new blocks. */
  readonly pollingInterval?: number | undefined;
}
