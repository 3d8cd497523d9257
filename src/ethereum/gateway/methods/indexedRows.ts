import { MAX_COUNT, MAX_HISTORY_ADDRESSES, MAX_HISTORY_LIMIT, MAX_RANGE_BLOCKS } from '../../traces/index.ts';
import { addressSummary, addressSummaryObject } from '../history/addressSummary.ts';
import { addressTraces } from '../history/addressTraces.ts';
import { addressTracesObject } from '../history/params.ts';
import {
  addressSummaryResult,
  addressSummarySchema,
  addressTracesResult,
  addressTracesSchema,
} from '../history/schema.ts';
import { NO_FILTER, traceFilterObject } from '../traceFilter/params.ts';
import { blockBound } from '../traceFilter/quantity.ts';
import { traceFilter } from '../traceFilter/traceFilter.ts';
import { framePath } from '../traces/framePath.ts';
import { traceBlock } from '../traces/traceBlock.ts';
import { traceGet } from '../traces/traceGet.ts';
import { traceTransaction } from '../traces/traceTransaction.ts';
import type { JsonSchema } from './kind.ts';
import * as kinds from './kinds.ts';
import type { IndexedRow, Param } from './row.ts';

const transactionHash: Param = { name: 'transactionHash', kind: kinds.hash };

const oneTrace = { $ref: '#/components/schemas/Trace' };
const traces = { type: 'array', items: oneTrace };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

/** The methods that the index answers. */
export const INDEXED_ROWS: readonly IndexedRow[] = [
  {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient.',
    params: [
      { name: 'filter', kind: traceFilterObject, optional: true, otherwise: NO_FILTER, refusesNull: true },
    ],
    limits: `at most ${MAX_RANGE_BLOCKS} blocks, both ends counted; count at most ${MAX_COUNT}`,
    scope: { of: 'index' },
    resultSchema: traces,
    handler: traceFilter,
  },
  {
    name: 'trace_block',
    summary: 'All traces of a block.',
    params: [{ name: 'block', kind: blockBound }],
    scope: { of: 'index' },
    resultSchema: traces,
    handler: traceBlock,
  },
  {
    name: 'trace_transaction',
    summary: 'All traces of a transaction.',
    params: [transactionHash],
    scope: { of: 'index' },
    resultSchema: orNull(traces),
    handler: traceTransaction,
  },
  {
    name: 'trace_get',
    summary: 'One trace of a transaction, by its place in the call tree.',
    params: [transactionHash, { name: 'path', kind: framePath }],
    scope: { of: 'index' },
    resultSchema: orNull(oneTrace),
    handler: traceGet,
  },
  {
    name: 'floodgate_addressTraces',
    summary: 'The history of addresses over any range, page by page.',
    params: [{ name: 'history', kind: { ...addressTracesObject, schema: addressTracesSchema } }],
    limits: `at most ${MAX_HISTORY_ADDRESSES} addresses; limit at most ${MAX_HISTORY_LIMIT}`,
    scope: { of: 'index' },
    resultSchema: addressTracesResult(traces),
    handler: addressTraces,
  },
  {
    name: 'floodgate_addressSummary',
    summary: 'What the history of an address comes to: counts, first and last block, value.',
    params: [{ name: 'history', kind: { ...addressSummaryObject, schema: addressSummarySchema } }],
    scope: { of: 'index' },
    resultSchema: addressSummaryResult,
    handler: addressSummary,
  },
];
