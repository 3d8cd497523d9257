import { MAX_HISTORY_ADDRESSES, MAX_HISTORY_LIMIT } from '../../../traces/index.ts';
import { addressSummary, addressSummaryObject } from '../../traceIndex/history/addressSummary.ts';
import { addressTraces } from '../../traceIndex/history/addressTraces.ts';
import { addressTracesObject } from '../../traceIndex/history/params.ts';
import {
  addressSummaryResult,
  addressSummarySchema,
  addressTracesResult,
  addressTracesSchema,
} from '../../traceIndex/history/schema.ts';
import {
  checkTraceFilter,
  NO_FILTER,
  type TraceFilterParams,
  traceFilterObject,
} from '../../traceIndex/traceFilter/params.ts';
import { blockBound } from '../../traceIndex/traceFilter/quantity.ts';
import { traceFilter } from '../../traceIndex/traceFilter/traceFilter.ts';
import { framePath } from '../../traceIndex/traces/framePath.ts';
import { replayBlock } from '../../traceIndex/traces/replayBlock.ts';
import { replayTransaction } from '../../traceIndex/traces/replayTransaction.ts';
import { traceBlock } from '../../traceIndex/traces/traceBlock.ts';
import { traceGet } from '../../traceIndex/traces/traceGet.ts';
import { traceTransaction } from '../../traceIndex/traces/traceTransaction.ts';
import type { JsonSchema } from '../paramType.ts';
import * as kinds from '../paramTypes.ts';
import type { IndexedRow, Param } from '../row.ts';

const transactionHash: Param = { name: 'transactionHash', kind: kinds.hash };
const traceTypes: Param = { name: 'traceTypes', kind: kinds.traceTypes };
/** Trailing parameters of Erigon's trace methods, which libraries send. Values that would change the result are errors. */
const ERIGON_OPTIONS: readonly Param[] = [
  { name: 'gasBailOut', kind: kinds.boolean, optional: true },
  { name: 'traceConfig', kind: kinds.traceConfig, optional: true },
];

const oneTrace = { $ref: '#/components/schemas/Trace' };
const traces = { type: 'array', items: oneTrace };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

export const INDEXED_ROWS: readonly IndexedRow[] = [
  {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient.',
    params: [
      { name: 'filter', kind: traceFilterObject, optional: true, defaultValue: NO_FILTER, refusesNull: true },
      ...ERIGON_OPTIONS,
    ],
    limits: ({ traceFilterBlocks, traceFilterCount }) =>
      `at most ${traceFilterBlocks} blocks, both ends counted; count at most ${traceFilterCount}, without it at most ${traceFilterCount} matches`,
    checkLimits: ([filter], limits) => checkTraceFilter(filter as TraceFilterParams, limits), // validated by the parameter type
    scope: { of: 'index' },
    resultSchema: traces,
    handler: traceFilter,
  },
  {
    name: 'trace_block',
    summary: 'All traces of a block.',
    params: [{ name: 'block', kind: blockBound }, ...ERIGON_OPTIONS],
    scope: { of: 'index' },
    resultSchema: traces,
    handler: traceBlock,
  },
  {
    name: 'trace_transaction',
    summary: 'All traces of a transaction.',
    params: [transactionHash, ...ERIGON_OPTIONS],
    scope: { of: 'index' },
    resultSchema: orNull(traces),
    handler: traceTransaction,
  },
  {
    name: 'trace_get',
    summary: 'One trace of a transaction, by its path in the call tree.',
    params: [transactionHash, { name: 'path', kind: framePath }, ...ERIGON_OPTIONS],
    scope: { of: 'index' },
    resultSchema: orNull(oneTrace),
    handler: traceGet,
  },
  {
    name: 'trace_replayTransaction',
    summary: 'All traces of a transaction, and its output, without members that name the block.',
    params: [transactionHash, traceTypes, ...ERIGON_OPTIONS],
    limits: 'only the trace type `trace`',
    scope: { of: 'index' },
    resultSchema: orNull({ type: 'object' }),
    handler: replayTransaction,
  },
  {
    name: 'trace_replayBlockTransactions',
    summary: 'All traces and the output of each transaction of a block.',
    params: [{ name: 'block', kind: blockBound }, traceTypes, ...ERIGON_OPTIONS],
    limits: 'only the trace type `trace`',
    scope: { of: 'index' },
    resultSchema: { type: 'array', items: { type: 'object' } },
    handler: replayBlock,
  },
  {
    name: 'floodgate_addressTraces',
    summary: 'The traces of addresses over any range of blocks, in pages.',
    params: [{ name: 'history', kind: { ...addressTracesObject, schema: addressTracesSchema } }],
    limits: `at most ${MAX_HISTORY_ADDRESSES} addresses; limit at most ${MAX_HISTORY_LIMIT}`,
    scope: { of: 'index' },
    resultSchema: addressTracesResult(traces),
    handler: addressTraces,
  },
  {
    name: 'floodgate_addressSummary',
    summary: 'Totals of an address: trace counts, first and last block, value.',
    params: [{ name: 'history', kind: { ...addressSummaryObject, schema: addressSummarySchema } }],
    scope: { of: 'index' },
    resultSchema: addressSummaryResult,
    handler: addressSummary,
  },
];
