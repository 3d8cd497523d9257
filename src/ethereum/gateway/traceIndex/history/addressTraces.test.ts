import { describe, expect, it } from 'vitest';
import {
  BlockReplacedError,
  type HistoryPage,
  type JsonWriter,
  type MaybePromise,
  type TraceReader,
} from '../../../traces/index.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { addressTraces } from './addressTraces.ts';
import { addressTracesObject } from './params.ts';

const RANGE = { fromBlock: 0, toBlock: 9 };
const PAGE: HistoryPage = {
  range: RANGE,
  next: { blockNumber: 5, traceIndex: 2 },
  missing: [{ fromBlock: 3, toBlock: 4 }],
};

/**
 * Calls floodgate_addressTraces with an index whose newest block is `head`. The nodes report the head `polled` when they
 * are polled. Returns the result as an object.
 */
async function answer(
  page: () => MaybePromise<HistoryPage>,
  {
    head = 9,
    polled = head,
    cursor,
  }: { readonly head?: number; readonly polled?: number; readonly cursor?: string } = {},
): Promise<{ readonly cursor: string | null }> {
  const store = {
    head: () => ({ number: head }),
    addressTraces(_: unknown, __: unknown, json: JsonWriter) {
      json.verbatim(Buffer.from('[]'), 0, 2);
      return page();
    },
  } as unknown as TraceReader;
  const indexer = { freshHeads: async () => ({ latest: { number: polled } }) };
  const services = { store, indexer, maxAnswerBytes: 1_000 } as unknown as IndexServices;
  const params = addressTracesObject.read({ address: `0x${'1'.repeat(40)}`, cursor }, 'params[0]');
  const context = { mayStream: false } as Parameters<ReturnType<typeof addressTraces>>[1];
  const result = (await addressTraces(services)([params], context)) as
    | Uint8Array
    | { readonly bytes: Uint8Array };
  return JSON.parse(Buffer.from('bytes' in result ? result.bytes : result).toString());
}

describe.each<[string, (page: HistoryPage | Error) => MaybePromise<HistoryPage>]>([
  [
    'that answers at once',
    (page) => {
      if (page instanceof Error) throw page;
      return page;
    },
  ],
  ['that answers later', (page) => (page instanceof Error ? Promise.reject(page) : Promise.resolve(page))],
])('floodgate_addressTraces with a store %s', (_, reply) => {
  it('returns the range, the missing blocks and a cursor for the next page', async () => {
    const { cursor, ...rest } = await answer(() => reply(PAGE));
    expect(rest).toEqual({ traces: [], range: RANGE, missing: [[3, 4]] });
    expect(await answer(() => reply({ ...PAGE, next: undefined }), { cursor: String(cursor) })).toMatchObject(
      {
        cursor: null,
      },
    );
  });

  it('reports the block of a cursor that a reorganisation replaced', async () => {
    const replaced = answer(() => reply(new BlockReplacedError(5)));
    await expect(replaced).rejects.toMatchObject({ data: { blockNumber: 5, reason: 'blockReplaced' } });
  });
});

describe('floodgate_addressTraces with a cursor whose range ends after the last known head', () => {
  it('polls the nodes, because another server may have written the cursor', async () => {
    const { cursor } = await answer(() => PAGE);
    const next = answer(() => PAGE, { head: 8, polled: 9, cursor: String(cursor) });
    expect(await next).toMatchObject({ range: RANGE });
  });

  it('rejects it if the head of the nodes is lower', async () => {
    const { cursor } = await answer(() => PAGE);
    const next = answer(() => PAGE, { head: 8, cursor: String(cursor) });
    await expect(next).rejects.toMatchObject({
      message: 'toBlock of the cursor: 9 is past the head of the chain, block 8',
      data: { head: 8 },
    });
  });
});
