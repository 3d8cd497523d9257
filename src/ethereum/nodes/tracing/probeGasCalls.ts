import { blockRulesAt, type ChainRules, FIRST_STEP, isForkActive } from '../../traces/convert/index.ts';
import type { NodeClient } from '../client/nodeClient.ts';
import type { BlockRef } from '../pool/nodeHeads.ts';
import { isRefused } from './runtimeCharges.ts';
import { traceByTracer } from './traceByTracer.ts';

/** Any call that a node can trace. */
const CALL = { to: `0x${'00'.repeat(20)}`, gas: '0x186a0' };

/**
 * Returns what is not exact since Amsterdam if blocks are traced with a tracer, because the node refuses a call that
 * shows gas. Returns nothing if the chain has no Amsterdam, not even a scheduled one. Rejects with NodeError.
 */
export async function probeGasCalls(
  node: NodeClient,
  { number, hash }: BlockRef,
  rules: ChainRules,
): Promise<readonly string[]> {
  const { fork } = blockRulesAt(rules, { number, timestamp: Number.MAX_SAFE_INTEGER });
  if (number === 0 || !isForkActive('amsterdam', fork)) return [];
  const block = { number: `0x${number.toString(16)}`, hash };
  if (isRefused(await traceByTracer(node, block, { tracing: FIRST_STEP })))
    return [
      'gas and gasUsed of root frames since Amsterdam, because the node refuses the step logger (debug_traceBlockByHash without a tracer)',
    ];
  const [answer] = await node.batch([
    ['debug_traceCall', CALL, { blockHash: hash }, { ...FIRST_STEP, txIndex: '0x0' }],
  ]);
  return answer !== undefined && isRefused(answer)
    ? [
        'gas of root frames of some transactions with authorizations or much data since Amsterdam, because the node refuses debug_traceCall',
      ]
    : [];
}
