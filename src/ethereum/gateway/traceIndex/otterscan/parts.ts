import type { CallContext, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';

/** Sources of a composed method: the index and the nodes. */
export interface Parts {
  readonly services: IndexServices;
  readonly call: NodeCall;
  readonly context: CallContext;
}
