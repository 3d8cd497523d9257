import type { CallContext, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';

/** What a call of a composed method reads from: the index and the nodes. */
export interface Parts {
  readonly services: IndexServices;
  readonly call: NodeCall;
  readonly context: CallContext;
}
