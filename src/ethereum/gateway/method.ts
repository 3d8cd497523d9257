import type { Span } from '../../platform/spans/index.ts';
import type { Result } from '../jsonrpc/index.ts';
import type { AnswerRoom } from '../nodes/index.ts';
import type { KeptAnswer } from './cache/keptAnswer.ts';

/** What a call has besides its parameters, and what its handler tells about its answer. */
export interface CallContext {
  /** A large result may be a stream. */
  readonly mayStream: boolean;
  /** Who asks, by key or address; worked out where somebody wants to know. */
  readonly client?: () => string;
  /** Memory for what arrives from a node. */
  readonly room: AnswerRoom;
  /** Calls back when the answer is on its way. Left out: nothing comes behind an answer. */
  readonly afterAnswer?: (then: () => void) => void;
  /** Where the answer came from: the cache, a node, or another call under way for the same. */
  cache?: 'hit' | 'miss' | 'coalesced';
  /** The node that answered, by its place in the configuration. */
  node?: string;
  /** The span of the call; left out: it is not traced. */
  span?: Span | undefined;
  /** The result is this one. */
  kept?: KeptAnswer;
}

/** The result as JSON bytes. Throws RpcError where the parameters or the circumstances do not allow an answer. */
export type Handler = (params: readonly unknown[], context: CallContext) => Promise<Result> | Result;

/** A method that the gateway serves in one network: a row of the table of methods with what it needs to answer. */
export interface Method {
  readonly name: string;
  /** Once it is carried out its answer must not be refused: what it changed would be. */
  readonly changesState?: boolean;
  /**
   * It is asked for at a path of its own and never called by its name: where this method is served, and by those who may call that.
   */
  readonly standsFor?: string;
  /** A key that is narrowed to some methods may call it too. */
  readonly isForEveryKey?: boolean;
  /** Parameters as the client sent them. */
  readonly handle: Handler;
}
