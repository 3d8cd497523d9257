import type { ChainRules } from '../chains/chainRules.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { asObject, countUpTo, listUpTo } from '../json/readJson.ts';
import type { FullBlock } from '../parseTransactions.ts';
import { resultsByTransaction } from './gethResult.ts';

/**
 * Options of `debug_traceBlockByHash` for the step logger, limited to the first step of each transaction. geth counts
 * bytes of output and logs one step; geth before 1.14 counts steps.
 */
export const FIRST_STEP = { limit: 1, disableStack: true, disableStorage: true } as const;

/** Result of the step logger for a transaction. */
export interface FirstStep {
  /** Gas before the first step, which is the gas of the root frame; null if no code ran. */
  readonly gas: bigint | null;
  /** Gas that the whole transaction used. */
  readonly spent: bigint;
  readonly failed: boolean;
}

/** A node that ignores the limit logs many steps. */
const asSteps = listUpTo(16);
const asGas = countUpTo(Number.MAX_SAFE_INTEGER);

/**
 * Returns the result of the step logger for each transaction, undefined for one that the node does not trace. Returns
 * undefined without a result of the step logger.
 *
 * @throws TraceFormatError if the result is malformed, BlockMismatchError if it belongs to another block.
 */
export function readFirstSteps(
  block: FullBlock,
  rules: ChainRules,
): readonly (FirstStep | undefined)[] | undefined {
  if (block.firstSteps === undefined) return undefined;
  return resultsByTransaction(block, block.firstSteps, rules).map((result, index) =>
    result === undefined ? undefined : readFirstStep(result, { what: 'transaction', index }),
  );
}

/** Reads a result of the step logger. @throws TraceFormatError if it is malformed. */
export function readFirstStep(result: unknown, place: ParseContext): FirstStep {
  const { structLogs, gas, failed } = asObject(result, place, 'result');
  const [step] = asSteps(structLogs, place, 'structLogs');
  return {
    gas:
      step === undefined
        ? null
        : BigInt(asGas(asObject(step, place, 'structLogs[0]')['gas'], place, 'structLogs[0].gas')),
    spent: BigInt(asGas(gas, place, 'gas')),
    failed: failed === true,
  };
}
