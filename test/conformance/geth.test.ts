import { describe, expect, it } from 'vitest';
import {
  blockRewards,
  type ChainRules,
  chainRulesOf,
  checkBlock,
  type Fork,
  type ForkStart,
  type FullHeader,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
} from '../../src/ethereum/traces/convert/index.ts';
import type { RewardTrace, Trace } from '../../src/ethereum/traces/index.ts';
import { erigonExchanges, recordedFile, recordedFiles } from './recorded.ts';

type Json = Record<string, unknown>;

const hash = (byte: string) => `0x${byte.repeat(32)}`;
const hex = (number: number | bigint) => `0x${number.toString(16)}`;

/** Returns a block header with defaults for members that are not recorded. */
function header(members: Json): FullHeader {
  return parseHeader({
    number: '0x1',
    hash: hash('b1'),
    parentHash: hash('b0'),
    timestamp: '0x0',
    gasLimit: '0x0',
    gasUsed: '0x0',
    ...members,
  });
}

/** Returns a transaction with the members that the tracer's root frame contains; access lists are not recorded. */
function transactionOf(root: Json, transactionHash: unknown): Json {
  // Nested frames have these members at the top level, flat ones in their action.
  const action = (root['action'] ?? root) as Json;
  const isCreation = String(root['type']).toUpperCase().startsWith('CREATE');
  return {
    hash: transactionHash,
    from: action['from'],
    to: isCreation ? null : action['to'],
    value: action['value'],
    gas: action['gas'],
    input: action['input'] ?? action['init'],
  };
}

/** Names in geth's chain configuration of the forks that differ in the fixtures. */
const CONFIG_NAMES: ReadonlyArray<readonly [Fork, string]> = [
  ['homestead', 'homesteadBlock'],
  ['byzantium', 'byzantiumBlock'],
  ['constantinople', 'constantinopleBlock'],
  ['istanbul', 'istanbulBlock'],
  ['berlin', 'berlinBlock'],
  ['shanghai', 'shanghaiTime'],
  ['cancun', 'cancunTime'],
];

function rulesOf(config: Json): ChainRules {
  const starts: Partial<Record<Fork, ForkStart>> = {};
  for (const [fork, name] of CONFIG_NAMES) {
    const start = config[name];
    if (typeof start === 'number')
      starts[fork] = name.endsWith('Time') ? { timestamp: start } : { block: start };
  }
  return { ...chainRulesOf(1), starts, rewards: 'optional' };
}

/** A fixture of go-ethereum's tracer tests: one transaction of a block. */
interface Fixture {
  readonly genesis: { readonly config: Json };
  readonly context: { readonly number: string; readonly timestamp: string };
  readonly tracerConfig?: Json;
  readonly result: unknown;
}

/** Returns the traces of a fixture, and checks that they are a complete tree of the transaction. */
function tracesOf(fixture: Fixture): Trace[] {
  const { context, genesis, result } = fixture;
  const [number, timestamp] = [hex(Number(context.number)), hex(Number(context.timestamp))];
  const block = header({ number, timestamp, transactions: [hash('7a')] });
  const place = { blockHash: block.hash, blockNumber: block.number, transactionHash: hash('7a') };
  const rules = rulesOf(genesis.config);
  const isFlat = Array.isArray(result);
  // The fixtures lack the position of the frames in the chain, which a node returns.
  const frames = isFlat ? result.map((frame: Json) => ({ ...frame, ...place, transactionPosition: 0 })) : [];
  const root = (isFlat ? frames[0] : result) as Json;
  const transactions = parseTransactions({ transactions: [transactionOf(root, hash('7a'))] });
  const traces = isFlat
    ? fromFlatCallTracer({ header: block, transactions }, [{ result: frames }], rules)
    : fromCallTracer({ header: block, transactions }, [{ result }], rules);
  checkBlock(block, traces);
  return traces;
}

describe('go-ethereum fixtures', () => {
  it('convert to the same traces from callTracer and flatCallTracer', () => {
    const flat = new Map(
      recordedFiles('go-ethereum/call_tracer_flat').map(({ file, json }) => [
        file.replace('call_tracer_flat', 'call_tracer'),
        json as Fixture,
      ]),
    );
    let pairs = 0;
    for (const { file, json } of recordedFiles('go-ethereum/call_tracer')) {
      const twin = flat.get(file);
      // Two pairs of files with equal names contain different transactions, or only the root frame.
      if (!twin || file.endsWith('/selfdestruct.json') || file.endsWith('/simple_onlytop.json')) continue;
      expect(tracesOf(json as Fixture), file).toEqual(tracesOf(twin));
      pairs++;
    }
    expect(pairs).toBe(11);
  });

  it('all convert into complete trees', () => {
    const files = ['call_tracer', 'call_tracer_flat'].flatMap((folder) =>
      recordedFiles(`go-ethereum/${folder}`),
    );
    for (const { json } of files) expect(tracesOf(json as Fixture).length).toBeGreaterThan(0);
    expect(files.length).toBeGreaterThanOrEqual(47);
  });
});

/** Returns the intrinsic gas of a call until Homestead: 21000, and 4 or 68 for each byte of its data. */
function paidFirst(data: string): bigint {
  const bytes = data.slice(2).match(/../g) ?? [];
  return 21_000n + bytes.reduce((sum, byte) => sum + (byte === '00' ? 4n : 68n), 0n);
}

/**
 * Adds the intrinsic gas to the root frame, because the old JavaScript tracer that ethereum-etl recorded did not
 * include it.
 */
function asNativeTracer(root: Json): Json {
  const add = (member: string) => hex(BigInt(String(root[member])) + paidFirst(String(root['input'])));
  return { ...root, gas: add('gas'), gasUsed: add('gasUsed') };
}

/** Adds the members of SELFDESTRUCT frames from Parity's traces, in order, because that tracer did not record them. */
function withSuicides(frame: Json, suicides: Json[]): Json {
  const calls = ((frame['calls'] ?? []) as Json[]).map((call) => withSuicides(call, suicides));
  if (frame['type'] !== 'SELFDESTRUCT') return { ...frame, calls };
  const action = suicides.shift();
  return { ...frame, from: action?.['address'], to: action?.['refundAddress'], value: action?.['balance'] };
}

describe('mainnet blocks with recorded answers of Parity and geth', () => {
  it.for([
    ['block_with_subtraces', '0xf4240'],
    ['block_with_create', '0xf44f2'],
    ['block_with_error', '0xf45bf'],
    ['block_with_suicide', '0xf7105'],
  ])("%s: geth's traces convert to Parity's", ([folder, number]) => {
    const parity = recordedFile(
      'ethereum-etl/blocks',
      `test_export_traces_job/${folder}/web3_response.trace_block_${number}.json`,
    ) as { result: Json[] };
    const geth = recordedFile(
      'ethereum-etl/blocks',
      `test_extract_geth_traces_job/${folder}/geth_traces.json`,
    ) as {
      transaction_traces: Json[];
    };
    const expected = parseTraceBlock(parity.result);
    const [first] = expected;
    const rewards = expected.filter((trace) => trace.type === 'reward');
    const hashes = [...new Set(expected.flatMap(({ transactionHash }) => transactionHash ?? []))];
    const block = header({
      number,
      hash: first?.blockHash,
      difficulty: '0x1',
      miner: rewards[0]?.action.author,
      transactions: hashes,
    });
    const rules = chainRulesOf(1);
    const suicides = parity.result
      .filter(({ type }) => type === 'suicide')
      .map(({ action }) => action as Json);
    const roots = geth.transaction_traces.map((root) => asNativeTracer(withSuicides(root, suicides)));
    const transactions = parseTransactions({
      transactions: roots.map((root, i) => transactionOf(root, hashes[i])),
    });
    const results = roots.map((result) => ({ result }));
    const frames = fromCallTracer({ header: block, transactions }, results, rules);
    const uncles = rewards.slice(1).map((reward) => uncleOf(reward, block));
    const mined = blockRewards({ ...block, uncleHashes: uncles.map((uncle) => uncle.hash) }, uncles, rules);
    const traces = [...frames, ...mined];
    checkBlock(block, traces);
    expect(traces.map(asIn2017)).toEqual(expected.map(asIn2017));
  });
});

/**
 * Normalises what Parity returned differently in 2017: creations without creationMethod; for a callcode, the caller
 * as `to`, and only the output bytes that fit into the caller's memory.
 */
function asIn2017(trace: Trace): unknown {
  if (trace.type === 'create') {
    const { creationMethod: _, ...action } = trace.action;
    return { ...trace, action };
  }
  if (trace.type !== 'call' || trace.action.callType !== 'callcode') return trace;
  const { action, result } = trace;
  return { ...trace, action: { ...action, to: action.from }, result: result && { ...result, output: '0x' } };
}

/** Full block reward by era, in wei: yellow paper, EIP-649, EIP-1234. */
const fullReward = (number: number) => 10n ** 18n * (number < 4_370_000 ? 5n : number < 7_280_000 ? 3n : 2n);

/** Returns the uncle that earned this reward; its height follows from the reward. */
function uncleOf({ action }: RewardTrace, block: FullHeader): FullHeader {
  const age = 8n - (BigInt(action.value) * 8n) / fullReward(block.number);
  const number = hex(BigInt(block.number) - age);
  return header({ number, miner: action.author, hash: action.author.padEnd(66, '0') });
}

describe('Erigon answers to debug_traceBlock', () => {
  it('through callTracer for block 24298763 convert to complete trees without the 45 calls of precompiled contracts', () => {
    const [exchange] = erigonExchanges('debug_traceBlockByNumber').filter(({ file }) =>
      file.endsWith('test_51.json'),
    );
    const results = exchange?.result as Array<{ result: Json; txHash: string }>;
    const hashes = results.map(({ txHash }) => txHash);
    // 21 January 2026, under the rules of Osaka.
    const block = header({ number: '0x172c50b', timestamp: hex(1_769_000_000), transactions: hashes });
    const transactions = parseTransactions({
      transactions: results.map(({ result }, i) => transactionOf(result, hashes[i])),
    });
    const traces = fromCallTracer({ header: block, transactions }, results, chainRulesOf(1));
    checkBlock(block, traces);
    expect(traces).toHaveLength(1758 - 45);
  });

  it('through flatCallTracer convert to complete trees without the frames that never ran, for every recorded block', () => {
    const methods = ['debug_traceBlockByNumber', 'debug_traceBlockByHash'];
    const exchanges = methods.flatMap((method) => erigonExchanges(method));
    const sizes = new Map<number, number>();
    for (const { params, result } of exchanges) {
      const config = params[1] as Json;
      if (config['tracer'] !== 'flatCallTracer' || !Array.isArray(result)) continue;
      const roots = result.map(({ result: frames }) => frames[0] as Json);
      const hashes = roots.map((root) => root['transactionHash']);
      const number = Number(roots[0]?.['blockNumber']);
      const block = header({ number: hex(number), hash: roots[0]?.['blockHash'], transactions: hashes });
      const transactions = parseTransactions({
        transactions: roots.map((root, i) => transactionOf(root, hashes[i])),
      });
      const traces = fromFlatCallTracer({ header: block, transactions }, result, chainRulesOf(1));
      checkBlock(block, traces);
      const sent = result.flatMap(({ result: frames }) => frames as Json[]);
      const neverRan = sent.filter(({ error }) => error === 'insufficient balance for transfer');
      expect(traces).toHaveLength(sent.length - neverRan.length);
      sizes.set(number, traces.length);
    }
    expect([...sizes.keys()].sort((a, b) => a - b)).toEqual([
      884_166, 1_500_010, 1_603_003, 15_000_107, 17_073_193,
    ]);
    expect(sizes.get(17_073_193)).toBeGreaterThan(1_300);
  });
});

describe('rewards of mined blocks', () => {
  it('equal those that Erigon recorded, for every block with rewards', () => {
    const byBlock = new Map<number, RewardTrace[]>();
    for (const method of ['trace_block', 'trace_filter'])
      for (const { params, result } of erigonExchanges(method)) {
        const filter = params[0];
        const isPartial =
          typeof filter === 'object' && Object.keys(filter ?? {}).some((key) => !key.endsWith('Block'));
        if (!Array.isArray(result) || isPartial) continue;
        for (const trace of parseTraceBlock(structuredClone(result)))
          if (trace.type === 'reward')
            byBlock.set(trace.blockNumber, [...(byBlock.get(trace.blockNumber) ?? []), trace]);
      }
    for (const [number, rewards] of byBlock) {
      const [own, ...ofUncles] = dedupe(rewards);
      const block = header({
        number: hex(number),
        hash: own?.blockHash,
        difficulty: '0x1',
        miner: own?.action.author,
      });
      const uncles = ofUncles.map((reward) => uncleOf(reward, block));
      const withUncles = { ...block, uncleHashes: uncles.map((uncle) => uncle.hash) };
      expect(blockRewards(withUncles, uncles, chainRulesOf(1))).toEqual([own, ...ofUncles]);
    }
    expect(byBlock.size).toBeGreaterThan(30);
  });
});

/** Removes duplicates, because several recordings contain the same block. */
function dedupe(rewards: readonly RewardTrace[]): RewardTrace[] {
  return [...new Map(rewards.map((reward) => [JSON.stringify(reward), reward])).values()];
}
