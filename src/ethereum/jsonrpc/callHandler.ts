import { RpcError } from './errors.ts';
import type { Call } from './request.ts';
import type { Result } from './result.ts';

/** Thrown by `admit` while its decision is unknown. No call has run. Call `admit` again when `until` resolves. */
export class NotYetAdmitted {
  readonly until: Promise<void>;

  constructor(until: Promise<void>) {
    this.until = until;
  }
}

/** Admits and runs the calls of one request body. */
export interface CallHandler {
  /** Maximum total size of the responses of one batch, in bytes. */
  readonly maxBatchBytes: number;
  /** Admits all calls of a request body before the first runs. Throws RateLimitedError or NotYetAdmitted. */
  admit(calls: number): void;
  supports(method: string): boolean;
  unsupported(): void;
  /** Returns true if the method changes state. After its execution, its response must not be rejected. */
  changesState(method: string): boolean;
  /**
   * Runs a call. Returns JSON; only with `mayStream` it may be a stream or pooled bytes. Throws RpcError; other errors
   * are internal faults.
   */
  handle(call: Call, mayStream: boolean): Promise<Result> | Result;
  /** True if a rejected body gets one error per call, because clients match responses by id. Default: one error. */
  readonly errorPerCall?: boolean;
  /** Converts an internal error to an RpcError that reveals no internals to the client. */
  fault(error: unknown): RpcError;
}

export const rpcErrorOf = (error: unknown, handler: Pick<CallHandler, 'fault'>): RpcError =>
  error instanceof RpcError ? error : handler.fault(error);
