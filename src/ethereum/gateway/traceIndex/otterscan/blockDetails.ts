import { RpcError } from '../../../jsonrpc/index.ts';
import { JsonWriter, MAX_HISTORY_LIMIT, type RewardTrace } from '../../../traces/index.ts';
import type { Handler, NodeCall } from '../../method.ts';
import { readBlocks } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { NULL } from './accountCode.ts';
import type { Parts } from './parts.ts';

/** Block as nodes return it. */
interface NodeBlock {
  readonly number: string;
  readonly hash: string;
  readonly difficulty?: string;
  readonly transactions?: readonly unknown[];
  readonly [member: string]: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** Returns the handler of erigon_getHeaderByNumber: a block without the members that are not part of its header. */
export const erigonHeader =
  (_services: IndexServices, call: NodeCall): Handler =>
  async ([block], context) => {
    const found = blockIn(await call('eth_getBlockByNumber', [block, false], context));
    if (found === null) return NULL;
    const {
      transactions: _transactions,
      uncles: _uncles,
      withdrawals: _withdrawals,
      size: _size,
      ...header
    } = found;
    return json(header);
  };

/** Returns the handler of ots_getBlockDetails. */
export const otsBlockDetails =
  (services: IndexServices, call: NodeCall): Handler =>
  async ([block], context) => {
    const found = blockIn(await call('eth_getBlockByNumber', [block, false], context));
    return found === null ? NULL : detailsOf({ services, call, context }, found, found.number);
  };

/** Returns the handler of ots_getBlockDetailsByHash. Like in Erigon, an unknown hash is an error. */
export const otsBlockDetailsByHash =
  (services: IndexServices, call: NodeCall): Handler =>
  async ([hash], context) => {
    const found = blockIn(await call('eth_getBlockByHash', [hash, false], context));
    if (found !== null)
      return detailsOf({ services, call, context }, found, { blockHash: lowerCase(found.hash) });
    throw new RpcError('resourceNotFound', `no node knows block ${hash}`, { blockHash: hash });
  };

/** Returns the handler of ots_getBlockTransactions. Page 0 has the last transactions of the block. */
export const otsBlockTransactions =
  (_services: IndexServices, call: NodeCall): Handler =>
  async ([block, page, pageSize], context) => {
    const found = blockIn(await call('eth_getBlockByNumber', [block, true], context));
    if (found === null) return NULL;
    const { transactions = [] } = found;
    const size = Number(pageSize);
    const end = Math.max(0, transactions.length - Number(page) * size);
    const shown = transactions.slice(Math.max(0, end - size), end).map((tx) => tx as Members); // objects, as requested
    const receipts = await Promise.all(
      shown.map(async ({ hash }) => {
        const receipt = parsed(await call('eth_getTransactionReceipt', [lowerCase(hash)], context));
        if (!isOf(found, receipt)) throw replaced(found);
        return { ...receipt, logs: null, logsBloom: null };
      }),
    );
    const fullblock = { ...summaryOf(found), transactions: shown.map(withSelector) };
    return json({ fullblock, receipts });
  };

/** Returns the result for a block. `named` is the block as a parameter of eth_getBlockReceipts. */
async function detailsOf(parts: Parts, block: NodeBlock, named: unknown): Promise<Buffer> {
  const { call, context } = parts;
  const hasReceipts = (block.transactions?.length ?? 0) > 0;
  const receipts = hasReceipts
    ? (JSON.parse((await call('eth_getBlockReceipts', [named], context)).toString()) as readonly Members[])
    : [];
  const totalFees = (receipts ?? []).reduce((sum, receipt) => {
    if (!isOf(block, receipt)) throw replaced(block);
    return sum + quantityIn(receipt, 'gasUsed') * quantityIn(receipt, 'effectiveGasPrice');
  }, 0n);
  if ((receipts ?? []).length !== (block.transactions?.length ?? 0)) throw replaced(block);
  return json({
    block: summaryOf(block),
    issuance: await issuanceOf(parts, block),
    totalFees: hex(totalFees),
  });
}

/** Returns the rewards of a block: zero under proof of stake, otherwise from the index. */
async function issuanceOf(parts: Parts, block: NodeBlock): Promise<Record<string, string>> {
  const rewards =
    quantityIn(block, 'difficulty') === 0n ? [] : await readRewards(parts, Number(block.number));
  const sumOf = (isWanted: (type: string) => boolean): bigint =>
    rewards
      .filter(({ action }) => isWanted(action.rewardType))
      .reduce((sum, { action }) => sum + BigInt(action.value), 0n);
  const [blockReward, uncleReward] = [sumOf((type) => type !== 'uncle'), sumOf((type) => type === 'uncle')];
  return {
    blockReward: hex(blockReward),
    uncleReward: hex(uncleReward),
    issuance: hex(blockReward + uncleReward),
  };
}

async function readRewards(
  { services, context }: Parts,
  blockNumber: number,
): Promise<readonly RewardTrace[]> {
  const range = { fromBlock: blockNumber, toBlock: blockNumber };
  return readBlocks(services, { ...range, caller: context }, async (store) => {
    const writer = new JsonWriter();
    const filter = { kinds: ['reward'] } as const;
    // Rewards are the last traces of a block, so descending order reads nothing else.
    const query = {
      ...range,
      addresses: 'all',
      direction: 'either',
      order: 'desc',
      filter,
      limit: MAX_HISTORY_LIMIT,
    } as const;
    const { missing } = await store.addressTraces(query, services.maxAnswerBytes, writer);
    if (missing.length > 0) return undefined;
    return JSON.parse(Buffer.from(writer.written()).toString()) as RewardTrace[]; // the filter selects rewards
  });
}

/** Parses a block. The relay has checked its shape. */
const blockIn = (result: Buffer): NodeBlock | null => parsed(result) as NodeBlock | null;

const parsed = (result: Buffer): Members | null => JSON.parse(result.toString()) as Members | null;

const isOf = ({ hash }: NodeBlock, receipt: Members | null): boolean =>
  lowerCase(receipt?.['blockHash']) === lowerCase(hash);

/** Returns a hash of a node in the form that requests and the index use. */
const lowerCase = (hash: unknown): string => String(hash).toLowerCase();

function summaryOf({ transactions = [], ...block }: NodeBlock): Members {
  return { ...block, logsBloom: null, transactionCount: transactions.length };
}

/** Number of characters of `0x` and the four bytes that select a function. */
const SELECTOR_CHARS = 10;

const withSelector = (tx: Members): Members => ({
  ...tx,
  input: String(tx['input']).slice(0, SELECTOR_CHARS),
});

function quantityIn(members: Members, name: string): bigint {
  const value = members[name];
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new RpcError('resourceNotFound', `a node returned a block or receipt without ${name}`);
}

const replaced = ({ number }: NodeBlock): RpcError =>
  new RpcError(
    'resourceNotFound',
    `the nodes returned receipts that do not belong to block ${Number(number)}, or not all of its receipts; try again`,
    {
      blockNumber: Number(number),
    },
  );

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
