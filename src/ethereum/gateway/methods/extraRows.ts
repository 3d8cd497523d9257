import { RpcError } from '../../jsonrpc/index.ts';
import { depthOf } from './kinds.ts';
import type { RelayedRow } from './row.ts';

/** The form of a method's name; every client and node known keeps to it. */
const NAME = /^[a-z][a-z0-9]*_\w+$/i;
const MAX_NAME_LENGTH = 64;

/** What would hand a node, its keys or its chain to whoever calls: never relayed, in whatever capitals a node may take it. */
const NEVER = /^(?:(?:debug|admin|personal|engine|miner|evm|anvil|hardhat)_|eth_sign|eth_sendTransaction$)/i;
/** Our own methods. */
const OWN = /^(?:rpc|floodgate)[._]/i;
/** A connection to the node would have to be kept. */
const NEEDS_CONNECTION = /^eth_(?:un)?subscribe$/i;

/** Why a method cannot be relayed as an extra one; undefined where it can. */
export function whyNotExtra(name: string, served: readonly string[]): string | undefined {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) return 'is no name of a method';
  if (NEVER.test(name)) return 'is never relayed';
  if (OWN.test(name)) return 'is a name of the gateway itself';
  if (NEEDS_CONNECTION.test(name)) return 'needs a connection of its own to a node';
  return served.includes(name) ? 'is served already' : undefined;
}

/** Deeper parameters than this no method has. */
const MAX_DEPTH = 32;

/** The row of a method of which only the name is known. */
export const extraRow = (name: string): RelayedRow => ({
  name,
  summary: 'Relayed as it is: the operator has named it.',
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
