export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes calls: rejects where the answer is an error. */
export interface Requester {
  request(request: RpcRequest, options?: CallOptions): Promise<unknown>;
}

/** What can make calls, such as a client of viem, whatever types it has of its own for them. */
export interface AnyRequester {
  readonly request: (request: never, options?: never) => Promise<unknown>;
  /** In milliseconds. */
  readonly pollingInterval?: number | undefined;
}
