import type { BudgetClient } from '../../platform/budgets/index.ts';
import type { Span } from '../../platform/spans/index.ts';
import type { Result } from '../jsonrpc/index.ts';
import type { ResponseQuota } from '../nodes/index.ts';
import type { MaybePromise, NextTurn } from '../traces/index.ts';
import type { CallLimits } from './callLimits.ts';

/** Data of a call besides its parameters. The handler stores the source of the result here (`cache`, `node`). */
export interface CallContext {
  /** True if the handler may return a large result as a stream. */
  readonly mayStream: boolean;
  /** Returns the client's address. For IPv6 this is its /64 network. */
  readonly address?: () => string;
  /** Id of the client's API key. Undefined if it sent no key. */
  readonly keyId?: string | undefined;
  /** Hash of the API key that the client sent. Undefined if no key is needed. */
  readonly credential?: string | undefined;
  /** Resolves when it is the client's turn to use the thread. Default: after I/O was polled. */
  readonly nextTurn?: NextTurn | undefined;
  readonly room: ResponseQuota;
  /** Limits of the client's API key. Default: the limits of the server. */
  readonly limits: CallLimits;
  /** Runs `then` after the response. Undefined for HTTP requests, because no message can follow the response. */
  readonly afterAnswer?: (then: () => void) => void;
  /** Source of the result: the cache, a node, or a pending call with equal parameters. */
  cache?: 'hit' | 'miss' | 'coalesced';
  /** Name of the node that returned the result: `node-` and its number in the configuration. */
  node?: string;
  span?: Span | undefined;
}

/** Returns the client of a call, as budgets count it. */
export const clientOf = ({ address, keyId }: Pick<CallContext, 'address' | 'keyId'>): BudgetClient => ({
  address: address?.() ?? '',
  keyId,
});

/** Handles a method. Returns JSON bytes. Throws RpcError if parameters are invalid or no result is available. */
export type Handler = (params: readonly unknown[], context: CallContext) => Promise<Result> | Result;

/**
 * Calls a relayed method with canonical parameters on behalf of the handler of another method. Returns the result as
 * JSON, checked and cached as if a client had called the method. Throws RpcError.
 */
export type NodeCall = (
  method: string,
  params: readonly unknown[],
  context: CallContext,
) => MaybePromise<Buffer>;

/** Method that the gateway serves on one network: a row of the method table, bound to its dependencies. */
export interface Method {
  readonly name: string;
  /** True if the method changes state. After its execution, its response must not be rejected. */
  readonly changesState?: boolean;
  /** Method whose permission also permits this one. Set for methods that have a URL path instead of a name. */
  readonly permissionOf?: string;
  /** True if every API key may call the method, even a key that is restricted to some methods. */
  readonly isForEveryKey?: boolean;
  readonly handle: Handler;
}
