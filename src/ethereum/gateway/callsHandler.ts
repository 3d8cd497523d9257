import type { Log } from '../../platform/logging/index.ts';
import type { Span, Tracer } from '../../platform/spans/index.ts';
import {
  type Call,
  type CallHandler,
  isPooled,
  isStream,
  NoNodeError,
  type Result,
  RpcError,
} from '../jsonrpc/index.ts';
import type { AnswerRoom } from '../nodes/index.ts';
import { IndexUnavailableError } from '../traces/index.ts';
import type { Permit } from './admissionControl.ts';
import type { CallContext, Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';
import { noRoom } from './noRoom.ts';
import { spanned } from './spanned.ts';

export interface Entry {
  readonly method: Method;
  readonly observe: ReturnType<GatewayMetrics['observer']>;
}

/** Methods by their names. */
export type MethodTable = Pick<ReadonlyMap<string, Entry>, 'get'>;

/** The methods of one network. */
export const tableOf = (network: string, methods: readonly Method[], metrics: GatewayMetrics): MethodTable =>
  new Map(
    methods.map((method) => [method.name, { method, observe: metrics.observer(network, method.name) }]),
  );

/**
 * What a stream counts for: a megabyte or two of its answer are held, and a connection to its node. By this, as things are
 * configured if nothing is said, streams hold half of the connections to a node at most, and as many are left for others.
 */
const STREAM_BYTES = 3 * 1024 * 1024;

/** Where an answer is held until its last byte is taken. */
export interface AnswerSpace extends AnswerRoom {
  /** Takes room for bytes that will be sent. Returns false where there is none. */
  hold(part: Uint8Array): boolean;
  /** The same for a stream, of which never more is held at a time. */
  holdStream(bytes: number): boolean;
  /** Nobody waits for it any more. */
  readonly isOver: boolean;
}

/** A request that was admitted. */
export interface Admitted {
  readonly methods: MethodTable;
  readonly permit: Permit;
  readonly space: AnswerSpace;
  /** Tells what a fault's line in the log is found by. */
  readonly faults: { faultId(): string };
  /** Answers are WebSocket messages: whole, told apart by their ids, and others may come behind them. */
  readonly message?: Required<Pick<CallContext, 'afterAnswer'>>;
  /** What its calls are a part of. */
  readonly span?: Span | undefined;
}

/** Holds calls back while something changes that several processes must begin to answer by at the same moment. */
export interface Hold {
  readonly isOn: boolean;
  /** Resolves when it is over. */
  over(): Promise<void>;
}

export interface CallsHandlerDependencies {
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  /** Left out: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Left out: nothing is held back. */
  readonly hold?: Hold | undefined;
}

/** Carries out the calls of one request. */
export class CallsHandler implements CallHandler {
  readonly maxBatchBytes: number;
  readonly tellsEach: boolean;
  /** Of a request with a single call: where its answer came from. */
  readonly context: CallContext;
  readonly #dependencies: CallsHandlerDependencies;
  readonly #methods: MethodTable;
  readonly #permit: Permit;
  readonly #space: AnswerSpace;
  readonly #faults: Admitted['faults'];
  readonly #span: Span | undefined;

  constructor(
    maxBatchBytes: number,
    { methods, permit, space, faults, message, span }: Admitted,
    dependencies: CallsHandlerDependencies,
  ) {
    this.maxBatchBytes = maxBatchBytes;
    this.tellsEach = message !== undefined;
    const mayStream = message === undefined;
    this.context = { mayStream, room: space, client: permit.client, span: undefined, ...message };
    this.#dependencies = dependencies;
    this.#methods = methods;
    this.#permit = permit;
    this.#space = space;
    this.#faults = faults;
    this.#span = span;
  }

  admit(calls: number): void {
    this.#permit.admit(calls);
  }

  supports(method: string): boolean {
    const entry = this.#methods.get(method);
    if (entry === undefined || entry.method.standsFor !== undefined) return false;
    return entry.method.isForEveryKey === true || this.#permit.mayCall(method);
  }

  /** Whether what stands at a path of its own may be asked for. */
  mayAsk(method: string): boolean {
    const { standsFor } = this.#methods.get(method)?.method ?? {};
    return standsFor !== undefined && this.supports(standsFor);
  }

  unsupported(): void {
    this.#dependencies.metrics.limited('unsupported_method');
  }

  handle(call: Call, mayStream: boolean): ReturnType<CallHandler['handle']> {
    const { hold } = this.#dependencies;
    if (hold?.isOn === true) return hold.over().then(() => this.handle(call, mayStream));
    const entry = this.#methods.get(call.method);
    if (entry === undefined) throw new RpcError('methodNotFound', 'the gateway does not support this method');
    const context = mayStream ? this.context : { ...this.context, mayStream };
    if (this.#span === undefined) return this.#carryOut(entry, call, context);
    // Of a method that the table has: its name is no client's text.
    return spanned(this.#span.child(call.method, 'internal'), context, () =>
      this.#carryOut(entry, call, context),
    );
  }

  #carryOut(entry: Entry, call: Call, context: CallContext): Promise<Result> | Result {
    return entry.observe(() => {
      const result = entry.method.handle(call.params, context);
      // What was changed is not to be refused for want of room for a few bytes more.
      if (entry.method.changesState === true) return result;
      return result instanceof Promise ? result.then((known) => this.#held(known)) : this.#held(result);
    });
  }

  changesState(method: string): boolean {
    return this.#methods.get(method)?.method.changesState === true;
  }

  /** A result with room for it until its last byte is taken. Throws RateLimitedError where there is none. */
  #held(result: Result): Result {
    const space = this.#space;
    if (isStream(result)) {
      if (space.holdStream(STREAM_BYTES)) return result;
      result.abort();
    } else if (isPooled(result)) {
      if (space.hold(result.bytes)) return result;
      result.release();
    } else if (space.hold(result)) return result;
    if (!space.isOver) this.#dependencies.metrics.limited('unsent_bytes');
    throw noRoom();
  }

  fault(error: unknown): RpcError {
    if (error instanceof IndexUnavailableError) {
      this.#dependencies.log.warn({ reason: error.message }, 'the index could not be read for a request');
      return new NoNodeError('the index cannot be read now; try again', 'noIndex');
    }
    const id = this.#faults.faultId();
    this.#dependencies.log.error({ err: error, requestId: id }, 'a request failed by a fault of ours');
    return new RpcError('internalError', `a fault of the gateway; its log has it as request ${id}`);
  }
}
