import type { Result } from '../jsonrpc/index.ts';
import type { AnswerRoom } from '../nodes/index.ts';

/** What a call has besides its parameters, and what its handler tells about its answer. */
export interface CallContext {
  /** A large result may be a stream. */
  readonly mayStream: boolean;
  /** Memory for what arrives from a node. */
  readonly room: AnswerRoom;
  /** Where the answer came from: the cache, a node, or another call under way for the same. */
  cache?: 'hit' | 'miss' | 'coalesced';
  /** The node that answered, by its place in the configuration. */
  node?: string;
}

/** One row of the method table: a method that the gateway serves. */
export interface Method {
  readonly name: string;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** Once it is carried out its answer must not be refused: what it changed would be. */
  readonly changesState?: boolean;
  /** The result as JSON bytes. Throws RpcError where the parameters or the circumstances do not allow an answer. */
  handle(params: readonly unknown[], context: CallContext): Promise<Result> | Result;
}
