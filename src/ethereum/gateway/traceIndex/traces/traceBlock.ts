import { mapMaybe, type TraceReader } from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import type { BlockBound } from '../traceFilter/blockTag.ts';
import {
  checkHead,
  readBlocks,
  resolveBound,
  resolveHeads,
  withSizeErrors,
} from '../traceFilter/fromIndex.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'request parts of it with trace_filter';

/** Returns the handler of trace_block, which returns all traces of a block from the index, with rewards last. */
export function traceBlock(services: IndexServices): Handler {
  const { maxAnswerBytes } = services;
  return ([block], caller) => {
    const bound = block as BlockBound; // validated by the parameter type
    return mapMaybe(resolveHeads(services, [bound]), (heads) => {
      const blockNumber = resolveBound(heads, 'block', bound);
      checkHead(heads, 'block', blockNumber);
      const read = (store: TraceReader) => store.blockTraces(blockNumber, maxAnswerBytes, caller.nextTurn);
      const range = { fromBlock: blockNumber, toBlock: blockNumber, caller };
      return withSizeErrors(() => readBlocks(services, range, read), INSTEAD);
    });
  };
}
