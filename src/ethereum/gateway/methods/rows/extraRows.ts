import { depthOf } from '../../../../platform/nesting/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';
import type { RelayedRow } from '../row.ts';

/** Pattern for the names of methods. The methods of all known clients and nodes match it. */
const NAME = /^[a-z][a-z0-9]*_\w+$/i;
const MAX_NAME_LENGTH = 64;

/**
 * Methods that would give clients control of a node, its keys or its chain. Case is ignored, as nodes may ignore it.
 */
const FORBIDDEN_METHODS =
  /^(?:(?:debug|admin|personal|engine|miner|evm|anvil|hardhat)_|eth_sign|eth_sendTransaction$)/i;
const OWN = /^(?:rpc|floodgate)[._]/i;
/** Methods that need a permanent connection to the node, so they cannot be relayed. */
const NEEDS_CONNECTION = /^eth_(?:un)?subscribe$/i;

/** Returns the reason why the operator cannot add this method to the relayed methods. Undefined if it can be added. */
export function extraMethodError(name: string, served: readonly string[]): string | undefined {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) return 'is not a method name';
  if (FORBIDDEN_METHODS.test(name)) return 'is never relayed';
  if (OWN.test(name)) return 'is a method name of the gateway itself';
  if (NEEDS_CONNECTION.test(name)) return 'needs a permanent connection to a node';
  return served.includes(name) ? 'is served already' : undefined;
}

/** Maximum nesting of the parameters of a method that the operator added. No known method needs more. */
const MAX_DEPTH = 32;

/** Returns the method table row of a method that the operator added. */
export const extraRow = (name: string): RelayedRow => ({
  name,
  summary: 'Relayed unchanged: added by the operator.',
  params: [],
  checkLimits(params) {
    if (depthOf(params, MAX_DEPTH) > MAX_DEPTH)
      throw new RpcError('invalidParams', `params must be nested at most ${MAX_DEPTH} deep`);
  },
  scope: { of: 'moment' },
  result: 'any',
  nullable: true,
  once: true,
  isExtra: true,
});
