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

/** A node that ignores the limit logs many steps. */
const asSteps = listUpTo(16);
const asGas = countUpTo(Number.MAX_SAFE_INTEGER);

/**
 * Returns the gas before the first step of each transaction, which is the gas of its root frame; null if no code ran.
 * Returns undefined without a result of the step logger.
 *
 * @throws TraceFormatError if the result is malformed, BlockMismatchError if it belongs to another block.
 */
export function readFirstSteps(block: FullBlock, rules: ChainRules): readonly (bigint | null)[] | undefined {
  if (block.firstSteps === undefined) return undefined;
  return resultsByTransaction(block, block.firstSteps, rules).map((result, index) => {
    if (result === undefined) return null;
    const place: ParseContext = { what: 'transaction', index };
    const [step] = asSteps(asObject(result, place, 'result')['structLogs'], place, 'structLogs');
    if (step === undefined) return null;
    return BigInt(asGas(asObject(step, place, 'structLogs[0]')['gas'], place, 'structLogs[0].gas'));
  });
}
