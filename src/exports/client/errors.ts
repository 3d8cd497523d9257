/** Thrown if the gateway returns a JSON-RPC error. docs/reference/errors.md lists the codes. */
export class FloodgateRpcError extends Error {
  override readonly name = 'FloodgateRpcError';
  readonly code: number;
  /** Machine-readable details, such as `{"limit":800,"requested":801}`. */
  readonly data: unknown;

  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Thrown if a response is not JSON-RPC, because a proxy sent it, or the URL is that of another server. */
export class FloodgateHttpError extends Error {
  override readonly name = 'FloodgateHttpError';
  readonly status: number;

  constructor(status: number) {
    super(`HTTP status ${status} without a JSON-RPC response: check that the URL is a gateway's`);
    this.status = status;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the result of a JSON-RPC response, or undefined if there is none. Throws FloodgateRpcError for an error. */
export function resultIn(response: unknown): { readonly result: unknown } | undefined {
  if (!isObject(response)) return undefined;
  const { error, result } = response;
  if (isObject(error) && typeof error['code'] === 'number')
    throw new FloodgateRpcError({
      code: error['code'],
      message: String(error['message']),
      data: error['data'],
    });
  return result === undefined ? undefined : { result };
}

/** Thrown if blocks after the last yielded block are not in the index: the subscription would miss their traces. */
export class MissingBlocksError extends Error {
  override readonly name = 'MissingBlocksError';
  /** Ranges of missing blocks: the first and the last block number of each. */
  readonly missing: readonly (readonly [number, number])[];

  constructor(missing: readonly (readonly [number, number])[]) {
    super(`blocks ${missing.map((range) => range.join(' to ')).join(', ')} are not in the gateway's index`);
    this.missing = missing;
  }
}

/** Thrown if a reorg replaced more blocks than the subscription keeps, so that the removed traces are unknown. */
export class ReplacedTooDeepError extends Error {
  override readonly name = 'ReplacedTooDeepError';

  constructor() {
    super('a reorganisation replaced more blocks than the subscription keeps: read the history again');
  }
}
