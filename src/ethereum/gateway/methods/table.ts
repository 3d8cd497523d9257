import { RELAYED_ROWS } from './relayedRows.ts';

/** A method that the index answers: what its documentation says. Its handler is in its own folder. */
export interface IndexRow {
  readonly name: string;
  readonly summary: string;
  readonly params: string;
  readonly limits: string;
}

export const INDEX_ROWS: readonly IndexRow[] = [
  {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient.',
    params: 'filter',
    limits: 'at most 800 blocks, both ends counted; count at most 200',
  },
  { name: 'trace_block', summary: 'All traces of a block.', params: 'block', limits: '' },
  {
    name: 'trace_transaction',
    summary: 'All traces of a transaction.',
    params: 'transactionHash',
    limits: '',
  },
  {
    name: 'trace_get',
    summary: 'One trace of a transaction, by its place in the call tree.',
    params: 'transactionHash, traceAddress',
    limits: '',
  },
];

/** The names of all methods that the gateway can serve. */
export const SERVED_METHODS: readonly string[] = [...INDEX_ROWS, ...RELAYED_ROWS].map(({ name }) => name);
