import { andThen } from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import type { BlockBound } from '../traceFilter/blockTag.ts';
import {
  answerInBytes,
  checkHead,
  readBlocks,
  resolveBound,
  resolveHeads,
} from '../traceFilter/fromIndex.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'ask for parts of it with trace_filter';

/** trace_block, answered from the index: all traces of a block, its rewards at the end. */
export function traceBlock(services: IndexServices): Handler {
  const { store, maxAnswerBytes } = services;
  return ([block]) => {
    const bound = block as BlockBound; // what the parameter's kind made
    return andThen(resolveHeads(services, [bound]), (heads) => {
      const blockNumber = resolveBound(heads, 'block', bound);
      checkHead(heads, 'block', blockNumber);
      const read = () => store.blockTraces(blockNumber, maxAnswerBytes);
      const range = { fromBlock: blockNumber, toBlock: blockNumber };
      return answerInBytes(() => readBlocks(services, range, read), INSTEAD);
    });
  };
}
