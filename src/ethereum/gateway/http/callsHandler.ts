import type { BudgetClient } from '../../../platform/budgets/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import type { Scheduler } from '../../../platform/scheduler/index.ts';
import type { Span, Tracer } from '../../../platform/spans/index.ts';
import {
  type Call,
  type CallHandler,
  isPooled,
  isStream,
  NoNodeError,
  type Result,
  RpcError,
} from '../../jsonrpc/index.ts';
import type { ResponseQuota } from '../../nodes/index.ts';
import { IndexUnavailableError } from '../../traces/index.ts';
import type { CallContext, Method } from '../method.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { Permit } from './admissionControl.ts';
import { memoryLimitError } from './memoryLimitError.ts';
import { spanned } from './spanned.ts';
import { discard, streamWhileAllowed, whileAllowed } from './whileAllowed.ts';

export interface Entry {
  readonly method: Method;
  readonly observe: ReturnType<GatewayMetrics['observer']>;
}

export type MethodTable = Pick<ReadonlyMap<string, Entry>, 'get'>;

export const tableOf = (network: string, methods: readonly Method[], metrics: GatewayMetrics): MethodTable =>
  new Map(
    methods.map((method) => [method.name, { method, observe: metrics.observer(network, method.name) }]),
  );

/**
 * Memory charged for a streamed result, in bytes. Its buffers use 1 to 2 MB. The charge is larger, because a stream
 * occupies a connection to a node. With default limits, streams use at most half of these connections.
 */
const STREAM_BYTES = 3 * 1024 * 1024;

/** Results up to this size are not charged, so that small responses are sent even if the memory budget is exhausted. */
const FREE_BYTES = 16 * 1024;

/** Memory quota of a response. The memory is charged until the last byte was sent or the client has disconnected. */
export interface AnswerSpace extends ResponseQuota {
  readonly isFinished: boolean;
}

export interface Admitted {
  readonly methods: MethodTable;
  readonly permit: Permit;
  readonly space: AnswerSpace;
  /** Divides processor time among clients, and the client that is charged. */
  readonly turns: { readonly scheduler: Scheduler; readonly client: BudgetClient };
  readonly faults: { faultId(): string };
  /**
   * Set for a WebSocket message. Its results are sent whole, each call gets its own error, and other messages may
   * follow.
   */
  readonly message?: Required<Pick<CallContext, 'afterAnswer'>>;
  /** Tracing span of the request; the parent of the spans of its calls. */
  readonly span?: Span | undefined;
}

export interface CallsHandlerDependencies {
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  readonly tracer?: Tracer | undefined;
}

/** Runs the calls of one HTTP request or WebSocket message. */
export class CallsHandler implements CallHandler {
  readonly maxBatchBytes: number;
  readonly errorPerCall: boolean;
  /** Context of a request that contains a single call. The method's handler stores the source of the result here. */
  readonly context: CallContext;
  readonly #dependencies: CallsHandlerDependencies;
  readonly #methods: MethodTable;
  readonly #permit: Permit;
  readonly #space: AnswerSpace;
  readonly #turns: Admitted['turns'];
  readonly #faults: Admitted['faults'];
  readonly #span: Span | undefined;

  constructor(
    maxBatchBytes: number,
    { methods, permit, space, turns, faults, message, span }: Admitted,
    dependencies: CallsHandlerDependencies,
  ) {
    this.maxBatchBytes = maxBatchBytes;
    this.errorPerCall = message !== undefined;
    const mayStream = message === undefined;
    const { address, keyId, credential, limits } = permit;
    const whose = { address, keyId, credential, limits };
    const nextTurn = () => turns.scheduler.turn(turns.client);
    this.context = { mayStream, nextTurn, room: space, ...whose, span: undefined, ...message };
    this.#dependencies = dependencies;
    this.#methods = methods;
    this.#permit = permit;
    this.#space = space;
    this.#turns = turns;
    this.#faults = faults;
    this.#span = span;
  }

  admit(calls: number): void {
    this.#permit.admit(calls);
  }

  supports(method: string): boolean {
    const entry = this.#methods.get(method);
    if (entry === undefined || entry.method.permissionOf !== undefined) return false;
    return entry.method.isForEveryKey === true || this.#permit.isMethodAllowed(method);
  }

  /** Returns true if the client may use a method that has its own URL path. */
  isPathAllowed(method: string): boolean {
    const { permissionOf } = this.#methods.get(method)?.method ?? {};
    return permissionOf !== undefined && this.supports(permissionOf);
  }

  unsupported(): void {
    this.#dependencies.metrics.limited('unsupported_method');
  }

  inTurn<T>(work: () => Promise<T> | T): Promise<T> | T {
    const { scheduler, client } = this.#turns;
    return scheduler.resultOf(client, work);
  }

  handle(call: Call, mayStream: boolean): ReturnType<CallHandler['handle']> {
    const entry = this.#methods.get(call.method);
    if (entry === undefined) throw new RpcError('methodNotFound', 'the gateway does not support this method');
    const ended = this.#permit.ended();
    if (ended !== undefined) throw ended;
    // Most of a batch may still wait when its client disconnects.
    if (this.#space.isFinished && entry.method.changesState !== true)
      throw new RpcError('resourceUnavailable', 'the client has disconnected');
    const context = mayStream ? this.context : { ...this.context, mayStream };
    if (this.#span === undefined) return this.#carryOut(entry, call, context);
    // The span name is safe: the method is in the method table, so it is not arbitrary client input.
    return spanned(this.#span.child(call.method, 'internal'), context, () =>
      this.#carryOut(entry, call, context),
    );
  }

  #carryOut(entry: Entry, call: Call, context: CallContext): Promise<Result> | Result {
    return entry.observe(() => {
      const result = entry.method.handle(call.params, context);
      // A call that changes state cannot be undone, so its result is never rejected for lack of memory.
      if (entry.method.changesState === true) return result;
      if (!(result instanceof Promise)) return this.#chargeResult(result);
      const { name, permissionOf = name, isForEveryKey } = entry.method;
      const watch = (then: (error: RpcError) => void) =>
        this.#permit.watch(isForEveryKey ? undefined : permissionOf, then);
      return whileAllowed(result, watch).then((known) => {
        const charged = this.#chargeResult(known);
        return isStream(charged) ? streamWhileAllowed(charged, watch) : charged;
      });
    });
  }

  changesState(method: string): boolean {
    return this.#methods.get(method)?.method.changesState === true;
  }

  /** Charges the result's memory to the client. Throws RateLimitedError if the budget is exhausted. */
  #chargeResult(result: Result): Result {
    const space = this.#space;
    const bytes = isStream(result) ? STREAM_BYTES : (isPooled(result) ? result.bytes : result).length;
    if (bytes <= FREE_BYTES || space.charge(bytes)) return result;
    discard(result);
    if (!space.isFinished) this.#dependencies.metrics.limited('unsent_bytes');
    throw memoryLimitError();
  }

  fault(error: unknown): RpcError {
    if (error instanceof IndexUnavailableError) {
      this.#dependencies.log.warn({ reason: error.message }, 'index unavailable for a request');
      if (error.isUnproven)
        return new RpcError(
          'resourceNotFound',
          'the index does not prove this result; try again later, or request fewer blocks',
          { reason: 'unproven' },
        );
      return new NoNodeError('the index cannot be read now; try again', 'noIndex');
    }
    const id = this.#faults.faultId();
    this.#dependencies.log.error({ err: error, requestId: id }, 'request failed: internal error');
    return new RpcError(
      'internalError',
      `internal error of the gateway; its log has details under request id ${id}`,
    );
  }
}
