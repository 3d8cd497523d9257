import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lmdbTraces } from '../../../../../test/contract/lmdbTraces.ts';
import { historyBlock } from '../../../../../test/support/historyBlock.ts';
import { Random } from '../../../../../test/support/random.ts';
import { sizeInSearch } from '../../../../../test/support/search.ts';
import { type SyntheticBlock, syntheticAddresses } from '../../../../../test/support/syntheticChain.ts';
import type { RpcError } from '../../../jsonrpc/index.ts';
import {
  type Address,
  BlockReplacedError,
  type Hash,
  indexBlock,
  indexUnavailable,
  type Order,
  partiesOf,
  type TraceStore,
} from '../../../traces/index.ts';
import type { CallContext, Handler, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { otsContractCreator } from './contractCreator.ts';
import { findTransactions, MAX_PAGE_TRANSACTIONS } from './findTransactions.ts';
import { searchTransactions } from './searchTransactions.ts';
import { otsSenderAndNonce } from './senderAndNonce.ts';
import { otsInternalOperations, otsTraceTransaction, otsTransactionError } from './transactionFrames.ts';

const ADDRESSES = syntheticAddresses(6);
const BLOCKS = 60;

describe('the transactions of an address', () => {
  let folder: Awaited<ReturnType<typeof lmdbTraces>>;
  let chain: Chain;
  beforeEach(async () => {
    // Nearly every change is merged into the lists on disk.
    folder = await lmdbTraces({ maxRecentPositions: 50, listsPerMerge: 7 });
    chain = new Chain(await folder.open());
  });
  afterEach(async () => {
    await chain.store.close();
    await folder.remove();
  });

  it('are those of a plain filter, page by page, over chains with reorganisations and missing blocks', async () => {
    const random = new Random(Number(process.env['FLOODGATE_TEST_SEED'] ?? 401));
    await chain.grow(random, BLOCKS);
    let [ends, gaps] = [0, 0];
    for (let round = 0; round < sizeInSearch(150, { ordinary: 60 }); round++) {
      if (round % 10 === 9) await chain.reorganise(random, random.between(1, 12));
      const order = random.pick<Order>(['asc', 'desc']);
      const address = random.pick(ADDRESSES);
      const pageSize = random.pick([1, 2, 5, 25]);
      const fromBlock = random.between(1, chain.head);
      let range = { fromBlock, toBlock: Math.min(chain.head, fromBlock + random.below(40)) };
      for (let pages = 0; ; pages++) {
        expect(pages).toBeLessThan(1_000);
        const asked = { address, range, order, pageSize };
        const about = JSON.stringify(asked);
        const expected = chain.plainPage(asked);
        const found = await findTransactions(chain, asked).then(
          ({ transactions, isEnd }) => ({
            hashes: transactions.map((one) => one.transactionHash),
            isEnd,
            transactions,
          }),
          (error: unknown) => ({ missing: (error as RpcError).data }),
        );
        if ('missing' in expected) {
          gaps++;
          expect(found, about).toEqual({ missing: { blockNumber: expected.missing } });
          break;
        }
        if ('missing' in found) throw new Error(`an unexpected gap: ${about} ${JSON.stringify(found)}`);
        expect({ hashes: found.hashes, isEnd: found.isEnd }, about).toEqual(expected);
        for (const { blockNumber, blockHash } of found.transactions)
          expect(blockHash).toBe(chain.blocks.get(blockNumber)?.header.hash);
        if (found.isEnd) ends++;
        const last = found.transactions.at(-1);
        if (last === undefined || found.isEnd) break;
        range =
          order === 'asc'
            ? { ...range, fromBlock: last.blockNumber + 1 }
            : { ...range, toBlock: last.blockNumber - 1 };
        if (range.fromBlock > range.toBlock) break;
      }
    }
    expect(Math.min(ends, gaps)).toBeGreaterThan(5);
  });

  it('are at most 500 on a page, even if one block has more', async () => {
    const random = new Random(402);
    chain.addLarge(random, MAX_PAGE_TRANSACTIONS + 1);
    await chain.flush();
    const [address = '' as Address] = ADDRESSES;
    const asked = { address, range: { fromBlock: 1, toBlock: 1 }, order: 'desc' as const, pageSize: 25 };
    let [reads, turns] = [0, 0];
    const store: Pick<TraceStore, 'frames' | 'block'> = {
      block: (number) => chain.store.block(number),
      frames(query, decode) {
        reads++;
        return chain.store.frames(query, decode);
      },
    };
    const nextTurn = async () => void turns++;
    await expect(findTransactions({ store, nextTurn }, asked)).rejects.toThrow('more than 500 transactions');
    // Before each read but the first.
    expect(turns).toBe(reads - 1);
    expect(turns).toBeGreaterThan(1);
  });

  it.each(['asc', 'desc'] as const)(
    'are found in the order %s, however many frames of the address one of them has',
    async (order) => {
      const random = new Random(408);
      chain.addLarge(random, 3, 2);
      chain.addLarge(random, [2, 500, 25_000, 1, 401, 400]);
      chain.addLarge(random, [25_000]);
      chain.addLarge(random, 3, 2);
      await chain.flush();
      const [address = '' as Address] = ADDRESSES;
      for (const pageSize of [1, 2, 5, 25]) {
        const asked = { address, range: { fromBlock: 1, toBlock: chain.head }, order, pageSize };
        const { transactions, isEnd } = await findTransactions(chain, asked);
        const hashes = transactions.map(({ transactionHash }) => transactionHash);
        expect({ hashes, isEnd }).toEqual(chain.plainPage(asked));
      }
    },
  );

  it('are read again if a reorganisation replaces their blocks during the read', async () => {
    const random = new Random(403);
    chain.addLarge(random, 40, 1);
    chain.addLarge(random, 40);
    await chain.flush();
    let reads = 0;
    const store: Pick<TraceStore, 'frames' | 'block'> = {
      block: (number) => chain.store.block(number),
      async frames(query, decode) {
        const page = await chain.store.frames(query, decode);
        if (++reads === 2) {
          await chain.store.apply({ undoFrom: 2, blocks: [] });
        }
        return page;
      },
    };
    const [address = '' as Address] = ADDRESSES;
    const asked = { address, range: { fromBlock: 1, toBlock: 2 }, order: 'desc' as const, pageSize: 25 };
    await expect(findTransactions({ store }, asked)).rejects.toThrow(BlockReplacedError);
  });

  it('are found by sender and nonce, whatever nonces the transactions have', async () => {
    const random = new Random(404);
    const missing = new Set([30]);
    await chain.grow(random, BLOCKS, missing);
    const nonces = chain.numberTransactions(random);
    for (const [sender, sent] of nonces) {
      const code = random.chance(0.5) ? '0x' : `0xEF0100${'AB'.repeat(20)}`; // delegations send transactions, too
      const handler = otsSenderAndNonce(chain.services(), chain.node(nonces, code));
      const ask = async (nonce: number): Promise<unknown> =>
        JSON.parse(String(await handler([sender, `0x${nonce.toString(16)}`], CONTEXT)));
      for (const { nonce, hash } of sent) expect(await ask(nonce)).toBe(hash);
      const known = new Map(sent.map(({ nonce, block }) => [nonce, block]));
      const highest = Math.max(...known.keys());
      for (let nonce = 0; nonce <= highest + 1; nonce++) {
        if (known.has(nonce)) continue;
        const below = sent.findLast((one) => one.nonce < nonce)?.block ?? 1;
        const above = sent.find((one) => one.nonce > nonce)?.block ?? chain.head;
        const answer = await ask(nonce).catch((error: unknown) => (error as RpcError).code);
        expect(answer, `${sender} ${nonce}`).toBe(below < 30 && 30 < above ? -32001 : null);
      }
    }
  });

  it('are not found by sender and nonce on a chain that has only the genesis block', async () => {
    const handler = otsSenderAndNonce(chain.services(), chain.node(new Map(), '0x'));
    expect(String(await handler([ADDRESSES[0], '0x0'], CONTEXT))).toBe('null');
  });

  it('are returned with their receipts, unless the page exceeds the size of a response', async () => {
    chain.addLarge(new Random(406), 4);
    await chain.flush();
    const blockHash = chain.blocks.get(1)?.header.hash;
    const response = Buffer.from(JSON.stringify({ blockHash, input: `0x${'5a'.repeat(500)}` }));
    const search = async (maxAnswerBytes: number) => {
      const services = { ...chain.services(), maxAnswerBytes };
      const handler = searchTransactions('before')(services, () => response);
      return JSON.parse(String(await handler([ADDRESSES[0], 0, 25], CONTEXT)));
    };
    const { txs, receipts } = await search(8 * response.length);
    expect([txs.length, receipts.length]).toEqual([4, 4]);
    await expect(search(8 * response.length - 1)).rejects.toThrow(/use a smaller page size/);
  });

  it('are not searched from a block past the head, which a gateway with a newer head may know', async () => {
    chain.addLarge(new Random(410), 1);
    await chain.flush();
    const ends = async (side: 'before' | 'after', blockNumber: number) => {
      const handler = searchTransactions(side)(chain.services(), () => {
        const blockHash = chain.blocks.get(1)?.header.hash;
        return Buffer.from(JSON.stringify({ blockHash }));
      });
      const { txs, firstPage, lastPage } = JSON.parse(
        String(await handler([ADDRESSES[0], blockNumber, 25], CONTEXT)),
      );
      return [txs.length, firstPage, lastPage];
    };
    expect(await ends('before', 2)).toEqual([1, false, true]);
    expect(await ends('after', 1)).toEqual([0, true, false]);
    const past = {
      code: -32_602,
      message: 'block 2 is past the head of the chain, block 1',
      data: { head: 1 },
    };
    await expect(ends('before', 3)).rejects.toMatchObject(past);
    await expect(ends('after', 2)).rejects.toMatchObject(past);
  });

  it('are listed frame by frame in slices, with a turn of other clients between them', async () => {
    chain.addLarge(new Random(409), [2, 20_000]);
    await chain.flush();
    const hash = chain.blocks.get(1)?.header.transactionHashes[1];
    let turns = 0;
    const context = { ...CONTEXT, nextTurn: async () => void turns++ };
    const list = async (handler: Handler) => JSON.parse(String(await handler([hash], context)));
    const entries = await list(otsTraceTransaction(chain.services()));
    expect(entries.map(({ depth }: { depth: number }) => depth)).toEqual([
      0,
      ...Array<number>(19_999).fill(1),
    ]);
    expect(turns).toBeGreaterThan(20);
    expect(await list(otsInternalOperations(chain.services()))).toHaveLength(19_999);
  });

  it('have an error that is read even if their frames exceed the size of a response', async () => {
    chain.addLarge(new Random(407), 1, 20);
    await chain.flush();
    const services = { ...chain.services(), maxAnswerBytes: 1000 };
    const hash = chain.blocks.get(1)?.header.transactionHashes[0];
    expect(String(await otsTransactionError(services)([hash], CONTEXT))).toBe('"0x"');
    await expect(otsTraceTransaction(services)([hash], CONTEXT)).rejects.toThrow(
      'the result exceeds 1000 bytes',
    );
  });

  it('include the newest creation of a contract that was not reverted', async () => {
    const random = new Random(405);
    await chain.grow(random, BLOCKS, new Set());
    let created = 0;
    for (const address of ADDRESSES) {
      const creations = chain.creationsOf(address);
      const newest = creations.at(-1);
      if (newest !== undefined) created++;
      const ask = async (code: string): Promise<unknown> => {
        const handler = otsContractCreator(chain.services(), chain.node(new Map(), code));
        return JSON.parse(String(await handler([address], CONTEXT)));
      };
      expect(await ask('0x')).toBe(null);
      expect(await ask('0x6001')).toEqual(newest ?? null);
    }
    expect(created).toBeGreaterThan(2);
  });
});

const CONTEXT = {
  mayStream: false,
  room: { charge: () => true, credit: () => undefined, freeConnection: () => undefined },
} as Partial<CallContext> as CallContext; // the handlers use nothing else

interface Sent {
  readonly nonce: number;
  readonly hash: Hash;
  readonly block: number;
}

interface Asked {
  readonly address: Address;
  readonly range: { readonly fromBlock: number; readonly toBlock: number };
  readonly order: Order;
  readonly pageSize: number;
}

/** Blocks of an index, and a copy in memory. */
class Chain {
  readonly store: TraceStore;
  readonly blocks = new Map<number, SyntheticBlock>();
  readonly #hashes = new Map<number, Hash>();
  #added: ReturnType<typeof indexBlock>[] = [];
  head = 0;

  constructor(store: TraceStore) {
    this.store = store;
  }

  services(): IndexServices {
    const heads = { latest: { number: this.head } };
    const indexer = { lastHeads: heads, freshHeads: () => Promise.resolve(heads) };
    return { store: this.store, indexer, maxAnswerBytes: 1e9 } as unknown as IndexServices; // nothing else is used
  }

  node(nonces: ReadonlyMap<Address, readonly Sent[]>, code: string): NodeCall {
    const byHash = new Map([...nonces.values()].flat().map(({ hash, nonce }) => [hash, nonce]));
    return (method, [hash]) =>
      Buffer.from(
        JSON.stringify(
          method === 'eth_getCode' ? code : { nonce: `0x${byHash.get(hash as Hash)?.toString(16)}` },
        ),
      );
  }

  /** Adds blocks. The blocks in `missing` are missing or unavailable. Default: some random ones. */
  async grow(random: Random, count: number, missing?: ReadonlySet<number>): Promise<void> {
    for (let i = 0; i < count; i++) {
      const number = ++this.head;
      const block = historyBlock(random, ADDRESSES, { number, parentHash: this.#hashes.get(number - 1) });
      this.#hashes.set(number, block.header.hash);
      if (!(missing?.has(number) ?? random.chance(0.04))) {
        this.blocks.set(number, block);
        this.#added.push(indexBlock(block.header, block.traces));
      } else if (random.chance(0.5)) this.#added.push(indexUnavailable(block.header, 'timeout'));
    }
    await this.flush();
  }

  async flush(undoFrom?: number): Promise<void> {
    await this.store.apply({ blocks: this.#added, ...(undoFrom !== undefined && { undoFrom }) });
    this.#added = [];
  }

  async reorganise(random: Random, depth: number): Promise<void> {
    const from = this.head - depth + 1;
    for (let number = from; number <= this.head; number++) this.blocks.delete(number);
    await this.store.apply({ undoFrom: from, blocks: [] });
    this.head = from - 1;
    await this.grow(random, depth);
  }

  /** Adds a block with transactions of the first address, each with `calls` frames, or with these numbers of frames. */
  addLarge(random: Random, transactions: number | readonly number[], calls = 1): void {
    const number = ++this.head;
    const { header } = historyBlock(random, ADDRESSES, { number, parentHash: this.#hashes.get(number - 1) });
    this.#hashes.set(number, header.hash);
    const [from = '' as Address] = ADDRESSES;
    const frames = typeof transactions === 'number' ? Array<number>(transactions).fill(calls) : transactions;
    const transactionHashes = frames.map(() => random.hex(32) as Hash);
    const traces = transactionHashes.flatMap((transactionHash, transactionPosition) =>
      Array.from({ length: frames[transactionPosition] ?? 0 }, (_, i) => ({
        action: { callType: 'call', from, gas: '0x1', input: '0x', to: from, value: '0x1' },
        blockHash: header.hash,
        blockNumber: number,
        result: null,
        subtraces: i === 0 ? (frames[transactionPosition] ?? 0) - 1 : 0,
        traceAddress: i === 0 ? [] : [i - 1],
        transactionHash,
        transactionPosition,
        type: 'call',
      })),
    ) as unknown as SyntheticBlock['traces']; // text of the right form
    const block = { header: { ...header, transactionHashes }, traces };
    this.blocks.set(number, block);
    this.#added.push(indexBlock(block.header, block.traces));
  }

  /** Gives each root frame a nonce: ascending for each sender, with gaps. */
  numberTransactions(random: Random): Map<Address, Sent[]> {
    const sent = new Map<Address, Sent[]>();
    for (const [block, { traces }] of [...this.blocks].sort(([a], [b]) => a - b))
      for (const trace of traces) {
        const { from } = partiesOf(trace);
        if (trace.traceAddress.length > 0 || trace.transactionHash === null || from === null) continue;
        const list = sent.get(from) ?? [];
        sent.set(from, list);
        list.push({
          nonce: (list.at(-1)?.nonce ?? -1) + (random.chance(0.2) ? 2 : 1),
          hash: trace.transactionHash,
          block,
        });
      }
    return sent;
  }

  creationsOf(address: Address): { hash: Hash; creator: Address }[] {
    const all: { hash: Hash; creator: Address }[] = [];
    for (const [, { traces }] of [...this.blocks].sort(([a], [b]) => a - b)) {
      let failedDepth = Number.POSITIVE_INFINITY;
      for (const trace of traces) {
        const depth = trace.traceAddress.length;
        if (depth <= failedDepth) failedDepth = Number.POSITIVE_INFINITY;
        if (trace.type !== 'reward' && trace.error !== undefined) failedDepth = Math.min(failedDepth, depth);
        if (trace.type === 'create' && failedDepth > depth && partiesOf(trace).to === address)
          all.push({ hash: trace.transactionHash as Hash, creator: trace.action.from });
      }
    }
    return all;
  }

  /** Returns the page that a plain filter over all blocks finds, or the first missing block that it has to search. */
  plainPage({
    address,
    range,
    order,
    pageSize,
  }: Asked): { hashes: Hash[]; isEnd: boolean } | { missing: number } {
    const hashes: Hash[] = [];
    const numbers = Array.from(
      { length: range.toBlock - range.fromBlock + 1 },
      (_, i) => range.fromBlock + i,
    );
    for (const number of order === 'asc' ? numbers : numbers.reverse()) {
      const block = this.blocks.get(number);
      const isFull = hashes.length >= pageSize;
      if (block === undefined) return isFull ? { hashes, isEnd: false } : { missing: number };
      const matches = block.traces.filter((trace) => {
        const { from, to } = partiesOf(trace);
        return trace.transactionHash !== null && (from === address || to === address);
      });
      const found = [...new Set(matches.map(({ transactionHash }) => transactionHash as Hash))];
      if (isFull && found.length > 0) return { hashes, isEnd: false };
      hashes.push(...(order === 'asc' ? found : found.reverse()));
    }
    return { hashes, isEnd: true };
  }
}
