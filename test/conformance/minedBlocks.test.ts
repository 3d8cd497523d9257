import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { call } from '../gateway/support/send.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { startFakeNode } from './player.ts';
import { erigonExchanges } from './recorded.ts';

type Json = Record<string, unknown>;

interface Recorded extends Json {
  readonly action: Json;
  readonly blockNumber: number;
  readonly traceAddress: readonly number[];
  readonly transactionHash: string;
}

/** Blocks recorded from Erigon: proof-of-work blocks of Byzantium, each with an uncle. */
const WITH_UNCLES = [4_417_196, 5_405_095, 6_452_018, 6_474_020];
/** Head of the fake node, so much later that these blocks are final. */
const HEAD = 6_500_000;
const ETHER = 10n ** 18n;
const BYZANTIUM_REWARD = 3n * ETHER;

const hex = (number: number | bigint): string => `0x${number.toString(16)}`;
const made = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

/** geth's message for each of Parity's errors. */
const GETH_ERRORS: Readonly<Record<string, string>> = {
  Reverted: 'execution reverted',
  'Out of gas': 'out of gas',
  'Bad instruction': 'invalid opcode: INVALID',
  'Bad jump destination': 'invalid jump destination',
};

/**
 * Answers of a fake geth of that time: recorded Parity traces converted back, with headers and uncles generated to
 * match the rewards. Transactions pay the intrinsic gas of Byzantium: 21000, 68 or 4 per byte, 32000 to create.
 */
function gethOf(blocks: ReadonlyMap<number, readonly Recorded[]>) {
  const framesOf = (number: number): Recorded[] =>
    (blocks.get(number) ?? []).filter(({ type }) => type !== 'reward');
  const rewardsOf = (number: number): Recorded[] =>
    (blocks.get(number) ?? []).filter(({ type }) => type === 'reward');
  const hashOf = (number: number): string =>
    String(blocks.get(number)?.[0]?.['blockHash'] ?? made(`block ${number}`));
  const numberOf = (hash: unknown): number =>
    [...blocks.keys()].find((number) => hashOf(number) === hash) ?? -1;

  const header = (number: number, members: Json = {}): Json => ({
    number: hex(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: hex(1_438_269_988 + 15 * number),
    difficulty: '0xaa87bee538000',
    gasLimit: '0x7a1200',
    gasUsed: '0x7a1200',
    miner: rewardsOf(number)[0]?.action['author'] ?? `0x${'ee'.repeat(20)}`,
    transactions: [],
    uncles: rewardsOf(number)
      .slice(1)
      .map((_, i) => made(`uncle ${i} of ${number}`)),
    ...members,
  });
  const uncle = (number: number, i: number): Json => {
    const { action } = rewardsOf(number)[i + 1] as Recorded; // it is in the header's list
    const age = 8n - (8n * BigInt(String(action['value']))) / BYZANTIUM_REWARD;
    const hash = made(`uncle ${i} of ${number}`);
    return header(number - Number(age), { hash, miner: action['author'], uncles: [] });
  };
  const transactions = (number: number, isWhole: unknown): unknown[] =>
    framesOf(number)
      .filter(({ traceAddress }) => traceAddress.length === 0)
      .map((root) => (isWhole === true ? transactionOf(root) : root.transactionHash));
  const answer = (method: string, [first, second]: readonly unknown[]): unknown => {
    switch (method) {
      case 'eth_chainId':
        return '0x1';
      case 'web3_clientVersion':
        return 'Geth/made-of-recorded-answers';
      case 'eth_getBlockByNumber': {
        const named: Record<string, number> = { latest: HEAD, safe: HEAD - 32, finalized: HEAD - 64 };
        const number = named[String(first)] ?? Number(first);
        return number > HEAD ? null : header(number, { transactions: transactions(number, second) });
      }
      case 'eth_getUncleByBlockHashAndIndex':
        return uncle(numberOf(first), Number(second));
      case 'debug_traceBlockByHash':
        return framesOf(numberOf(first))
          .filter(({ traceAddress }) => traceAddress.length === 0)
          .map((root) => ({
            txHash: root.transactionHash,
            result: nested(root, framesOf(root.blockNumber)),
          }));
      default:
        return undefined;
    }
  };
  return { answer };
}

/** Returns a frame of `callTracer` with its descendants. */
function nested(frame: Recorded, frames: readonly Recorded[]): Json {
  const isRoot = frame.traceAddress.length === 0;
  const { action } = frame;
  const result = (frame['result'] ?? {}) as Json;
  const error = frame['error'] as string | undefined;
  const paid = isRoot ? intrinsic(frame) : 0n;
  const gas = BigInt(String(action['gas'] ?? '0x0'));
  const used = result['gasUsed'] === undefined ? gas : BigInt(String(result['gasUsed']));
  const calls = frames
    .filter(
      ({ transactionHash, traceAddress }) =>
        transactionHash === frame.transactionHash &&
        traceAddress.length === frame.traceAddress.length + 1 &&
        frame.traceAddress.every((step, i) => traceAddress[i] === step),
    )
    .map((child) => nested(child, frames));
  const common = {
    ...(calls.length > 0 && { calls }),
    ...(error !== undefined && { error: GETH_ERRORS[error] ?? error }),
  };
  const input = action['input'] ?? action['init'];
  const value = action['callType'] === 'staticcall' ? {} : { value: action['value'] ?? action['balance'] };
  if (frame['type'] === 'suicide')
    return {
      type: 'SELFDESTRUCT',
      from: action['address'],
      to: action['refundAddress'],
      gas: '0x0',
      gasUsed: '0x0',
      input: '0x',
      ...value,
    };
  return {
    type: frame['type'] === 'create' ? 'CREATE' : String(action['callType']).toUpperCase(),
    from: action['from'],
    to: action['to'] ?? result['address'],
    gas: hex(gas + paid),
    gasUsed: hex(used + paid),
    input,
    output: result['output'] ?? result['code'],
    ...value,
    ...common,
  };
}

function transactionOf(root: Recorded): Json {
  const { action } = root;
  const gas = hex(BigInt(String(action['gas'])) + intrinsic(root));
  const input = action['input'] ?? action['init'];
  return {
    hash: root.transactionHash,
    from: action['from'],
    to: action['to'] ?? null,
    value: action['value'],
    gas,
    input,
  };
}

function intrinsic(root: Recorded): bigint {
  const bytes = Buffer.from(String(root.action['input'] ?? root.action['init']).slice(2), 'hex');
  const zeros = bytes.filter((byte) => byte === 0).length;
  const creation = root['type'] === 'create' ? 32_000 : 0;
  return BigInt(21_000 + creation + 4 * zeros + 68 * (bytes.length - zeros));
}

describe('proof-of-work blocks from a node that only has debug_ methods', () => {
  test("are served with Parity's frames and rewards, including those of uncles", async () => {
    const blocks = new Map<number, Recorded[]>();
    for (const { result } of erigonExchanges('trace_block')) {
      const number = Array.isArray(result) ? Number(result[0]?.blockNumber) : -1;
      if (WITH_UNCLES.includes(number)) blocks.set(number, result as Recorded[]);
    }
    expect([...blocks.keys()].sort()).toEqual(WITH_UNCLES);
    const player = await startFakeNode(gethOf(blocks).answer);
    const floodgate = await startFloodgate({ upstream: player.url, args: ['--index-from', String(HEAD)] });
    try {
      for (const [number, recorded] of blocks) {
        const { json } = await call(floodgate.gatewayUrl, 'trace_block', number);
        expect(json.result).toEqual(parseTraceBlock(structuredClone(recorded)));
        const uncle = recorded.at(-1)?.action ?? {};
        expect(uncle['rewardType']).toBe('uncle');
        const { json: found } = await call(floodgate.gatewayUrl, 'trace_filter', {
          fromBlock: number,
          toBlock: number,
          toAddress: [uncle['author']],
        });
        expect(found.result.at(-1)).toEqual(json.result.at(-1));
      }
      expect(floodgate.output()).toContain('"traceMethod":"callTracer"');
    } finally {
      await floodgate.stop();
      await player.stop();
    }
  });
});
