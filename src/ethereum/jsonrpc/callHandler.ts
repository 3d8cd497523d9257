import { RpcError } from './errors.ts';
import type { Call } from './request.ts';
import type { Result } from './result.ts';

/** Thrown by `admit` while it cannot decide yet. No call has run. Call `admit` again when `until` has resolved. */
export class NotYetAdmitted {
  readonly until: Promise<void>;

  constructor(until: Promise<void>) {
    this.until = until;
  }
}

/** Admits and runs the calls of one request body. The gateway implements this interface. */
export interface CallHandler {
  /** Maximum total size of the responses of one batch, in bytes. */
  readonly maxBatchBytes: number;
  /** Admits this number of calls before the first one runs. Throws RateLimitedError or NotYetAdmitted. */
  admit(calls: number): void;
  supports(method: string): boolean;
  unsupported(): void;
  /** Returns true if the method changes state. When such a call has run, its response must not be rejected. */
  changesState(method: string): boolean;
  /**
   * Runs a call and returns the result as JSON. If `mayStream` is true, the result may be a stream or pooled bytes.
   * Throws RpcError; any other error is an internal fault.
   */
  handle(call: Call, mayStream: boolean): Promise<Result> | Result;
  /** Runs a call of a batch when it is the client's turn to use the processor. */
  inTurn<T>(work: () => Promise<T> | T): Promise<T> | T;
  /** True if a rejected body gets an error for each call, because clients match them by id. Default: one error. */
  readonly errorPerCall?: boolean;
  /** Converts an internal error to an RpcError for the client, which reveals no internals. */
  fault(error: unknown): RpcError;
}

export const rpcErrorOf = (error: unknown, handler: Pick<CallHandler, 'fault'>): RpcError =>
  error instanceof RpcError ? error : handler.fault(error);
