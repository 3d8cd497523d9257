/** The gateway answered with an error of JSON-RPC. docs/gateway.md has the codes. */
export class FloodgateRpcError extends Error {
  override readonly name = 'FloodgateRpcError';
  readonly code: number;
  /** What a program can go by, such as `{"limit":800,"requested":801}`. */
  readonly data: unknown;

  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What was answered is no JSON-RPC: something between here and the gateway has spoken, or the URL is another server's. */
export class FloodgateHttpError extends Error {
  override readonly name = 'FloodgateHttpError';
  readonly status: number;

  constructor(status: number) {
    super(`HTTP status ${status} with what is no JSON-RPC answer: is the URL that of a gateway?`);
    this.status = status;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The result of a JSON-RPC response; undefined where it is none. Throws FloodgateRpcError where it has an error. */
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

/** Blocks between those that were told of and the head are not in the index: traces of them would be left out. */
export class MissingBlocksError extends Error {
  override readonly name = 'MissingBlocksError';
  /** The first and the last block of each range. */
  readonly missing: readonly (readonly [number, number])[];

  constructor(missing: readonly (readonly [number, number])[]) {
    super(`blocks ${missing.map((range) => range.join(' to ')).join(', ')} are not in the gateway's index`);
    this.missing = missing;
  }
}

/** More blocks were replaced than are remembered: what has to be taken back is not known any more. */
export class ReplacedTooDeepError extends Error {
  override readonly name = 'ReplacedTooDeepError';

  constructor() {
    super('more blocks were replaced than are remembered: what was told of them has to be asked for anew');
  }
}
