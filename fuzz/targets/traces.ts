/** Answers of nodes to requests for the traces of a block, in each of the three formats. */
import fc from 'fast-check';
import {
  anyBlock,
  BLOCK,
  type Frame,
  flat,
  hash,
  nested,
  numbered,
  sentBlock,
} from '../../src/ethereum/traces/convert/frameTree.arbitrary.ts';
import {
  BlockMismatchError,
  blockRewards,
  chainRulesOf,
  checkBlock,
  chooseTraceMethod,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
  TraceFormatError,
} from '../../src/ethereum/traces/convert/index.ts';
import {
  chunkOf,
  indexBlock,
  JsonWriter,
  MAX_TRACES_PER_BLOCK,
  TRACES_PER_CHUNK,
  type Trace,
  writeTrace,
} from '../../src/ethereum/traces/index.ts';
import { must, type Target } from '../engine/target.ts';

const CHAINS = [1, 1_337];
const MAX_MESSAGE_LENGTH = 700;
const SEED_TREES = 24;
/** Larger seeds only repeat the structure of smaller ones. */
const MAX_SEED_BYTES = 6_000;

/** A node's answer with the request's parameters. */
interface Exchange {
  readonly chain?: unknown;
  readonly block?: unknown;
  readonly method?: unknown;
  readonly answer?: unknown;
}

export function open(): Target {
  const json = new JsonWriter();
  return {
    seeds: seeds(),
    dictionary: [
      ...['call', 'callcode', 'delegatecall', 'staticcall', 'create', 'create2', 'suicide', 'selfdestruct'],
      ...[
        'CALL',
        'CREATE2',
        'SELFDESTRUCT',
        'reward',
        'block',
        'uncle',
        'withdrawal',
        'Reverted',
        'out of gas',
      ],
      ...[
        'execution reverted',
        'max code size exceeded: code size 24577',
        'insufficient balance for transfer',
      ],
      ...[
        'max call depth exceeded',
        'trace_block',
        'callTracer',
        'flatCallTracer',
        'action',
        'result',
        'calls',
      ],
      ...[
        'error',
        'output',
        'gasUsed',
        'address',
        'code',
        'init',
        'input',
        'value',
        'uncles',
        'difficulty',
        'data',
      ],
      ...['accessList', 'storageKeys', 'authorizationList', '0x0', '0x', '__proto__', hash(0), BLOCK],
      ...[`0x${'0'.repeat(40)}`, `0x${'1'.padStart(40, '0')}`, `0x${'100'.padStart(40, '0')}`],
    ],
    maxBytes: 12_000,
    format: 'json',
    maxWork: 20_000_000,
    run(input) {
      const exchange = parse(input);
      if (exchange === undefined) return;
      chooseTraceMethod({
        traceBlock: { result: exchange.answer },
        callTracer: { result: exchange.answer },
        flatCallTracer: { result: exchange.answer },
      });
      unlessRefused(() => checkTraces(exchange, json));
    },
  };
}

/** Allows only the two error classes of the module, with short messages in ASCII. */
function unlessRefused(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof TraceFormatError || error instanceof BlockMismatchError)) throw error;
    must(error.message.length <= MAX_MESSAGE_LENGTH, 'an error message is short', error.message.length);
    must(/^[\x20-\x7e]*$/.test(error.message), 'an error message is printable ASCII', error.message);
  }
}

/** Traces that pass all checks are stored, and read back from the store unchanged. */
function checkTraces({ chain, block, method, answer }: Exchange, json: JsonWriter): void {
  const rules = chainRulesOf(typeof chain === 'number' ? chain : 1);
  const header = parseHeader(block);
  const transactions = parseTransactions(block);
  const traces =
    method === 'callTracer'
      ? fromCallTracer({ header, transactions }, answer, rules)
      : method === 'flatCallTracer'
        ? fromFlatCallTracer({ header, transactions }, answer, rules)
        : parseTraceBlock(answer);
  if (method === 'callTracer' || method === 'flatCallTracer') traces.push(...blockRewards(header, [], rules));
  checkBlock(header, traces);
  const text = JSON.stringify(traces);
  if (traces.length < MAX_TRACES_PER_BLOCK) {
    const { chunks } = indexBlock(header, traces);
    must(readBack(chunks, traces, json) === text, 'traces are read back from their chunks unchanged', text);
  }
  must(Buffer.byteLength(text) === text.length, 'traces are ASCII', text);
}

function readBack(chunks: readonly Uint8Array[], traces: readonly Trace[], json: JsonWriter): string {
  const texts = traces.map(({ blockNumber }, place) => {
    const chunk = chunks[chunkOf(place)];
    must(chunk !== undefined, 'each trace is in a chunk', place);
    json.reset();
    writeTrace(
      json,
      chunk,
      place % TRACES_PER_CHUNK,
      blockNumber,
      (_, data) => chunks[data] ?? new Uint8Array(),
    );
    return json.copy().toString();
  });
  return `[${texts.join(',')}]`;
}

function parse(input: Uint8Array): Exchange | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(input).toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns trees of frames, each in the formats of the three kinds of nodes. */
function seeds(): Buffer[] {
  const trees = fc.sample(anyBlock, { seed: 5, numRuns: SEED_TREES });
  const exchanges = trees.flatMap((roots, i): Exchange[] => {
    const idOf = numbered(roots);
    const about = { chain: CHAINS[i % CHAINS.length], block: sentBlock(roots, idOf) };
    const flatFrames = roots.map((root: Frame, position) => flat(root, position, idOf));
    return [
      { ...about, method: 'callTracer', answer: roots.map((root) => ({ result: nested(root, idOf) })) },
      {
        ...about,
        method: 'flatCallTracer',
        answer: flatFrames.map((result, position) => ({ txHash: hash(position), result })),
      },
      { ...about, method: 'trace_block', answer: flatFrames.flat() },
    ];
  });
  const texts = [...exchanges.map((exchange) => JSON.stringify(exchange)), REWARDED];
  return texts.filter(({ length }) => length <= MAX_SEED_BYTES).map((text) => Buffer.from(text));
}

const REWARDED = JSON.stringify({
  chain: 1,
  block: {
    hash: BLOCK,
    parentHash: BLOCK,
    number: '0x9',
    timestamp: '0x1',
    gasUsed: '0x0',
    difficulty: '0x2',
    transactions: [],
  },
  method: 'trace_block',
  answer: [
    {
      action: { author: `0x${'2'.repeat(40)}`, rewardType: 'block', value: '0x1bc16d674ec80000' },
      ...{ blockHash: BLOCK, blockNumber: 9, result: null, subtraces: 0, traceAddress: [], type: 'reward' },
    },
  ],
});
