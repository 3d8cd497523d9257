import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startHttpServer } from './httpServer.ts';

/** A block whose single transaction calls a contract that repeats a call with the same input. */
export interface RepeatedCalls {
  readonly calls: number;
  readonly inputBytes: number;
}

/** Trace methods of the node: geth's `debug_` methods, or Parity's `trace_` methods. */
export type Dialect = 'callTracer' | 'trace_block';

export interface LargeTracesNode {
  readonly url: string;
  /** Requested methods, in order. */
  readonly methods: string[];
  /** Length of the longest response, in bytes. */
  longestBytes(): number;
  stop(): Promise<void>;
}

interface Options extends RepeatedCalls {
  readonly dialect: Dialect;
  /** Number of the block with the calls; the others are empty. */
  readonly block: number;
  readonly head: number;
  /** Whether requests for the traces of whole blocks fail with "Response is too big". */
  readonly refusesBlocks?: boolean;
  /** Replaces the start of the traces. */
  readonly tracesBegin?: string;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const hash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const hex = (number: number): string => `0x${number.toString(16)}`;

const SENDER = `0x${'5e'.repeat(20)}`;
const REPEATER = `0x${'4e'.repeat(20)}`;
export const CALLEE = `0x${'ca'.repeat(20)}`;
export const TRANSACTION = hash(0xdead);
const GAS = hex(293_259);

/** Starts a node that generates its responses while it sends them, so that traces may be larger than memory. */
export async function startLargeTracesNode(options: Options): Promise<LargeTracesNode> {
  const methods: string[] = [];
  let longest = 0;
  function* answers(calls: Call | Call[]): Generator<string> {
    const isBatch = Array.isArray(calls);
    if (isBatch) yield '[';
    for (const [i, { id, method, params }] of [calls].flat().entries()) {
      methods.push(method);
      yield `${i > 0 ? ',' : ''}{"jsonrpc":"2.0","id":${id},`;
      yield* answerTo(method, params, options);
      yield '}';
    }
    if (isBatch) yield ']';
  }
  const server = await startHttpServer(async (body, _request, response) => {
    let bytes = 0;
    function* counted(): Generator<string> {
      for (const part of answers(JSON.parse(body) as Call | Call[])) {
        bytes += part.length;
        yield part;
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    // The client may close the connection early.
    await pipeline(Readable.from(counted(), { objectMode: false }), response).catch(() => undefined);
    longest = Math.max(longest, bytes);
  });
  return { url: server.url, methods, longestBytes: () => longest, stop: () => server.stop() };
}

function* answerTo(method: string, params: readonly unknown[], options: Options): Generator<string> {
  const { block, head, dialect, refusesBlocks } = options;
  const isLarge = params[0] === hex(block) || params[0] === hash(block) || params[0] === TRANSACTION;
  switch (method) {
    case 'eth_chainId':
      return yield `"result":"0x7a69"`;
    case 'web3_clientVersion':
      return yield `"result":"Large/v1"`;
    case 'eth_getBlockByNumber':
      return yield `"result":${JSON.stringify(blockOf(params, options))}`;
    case 'debug_traceBlockByHash':
    case 'debug_traceTransaction':
    case 'trace_block':
    case 'trace_transaction': {
      if (method.startsWith('debug_') !== (dialect === 'callTracer')) break;
      const ofBlock = method.includes('lock');
      if (refusesBlocks === true && ofBlock && isLarge)
        return yield '"error":{"code":-32008,"message":"Response is too big"}';
      yield '"result":';
      if (!isLarge) return yield '[]';
      if (options.tracesBegin !== undefined) yield options.tracesBegin;
      if (dialect === 'trace_block') return yield* flatFrames(options);
      if (!ofBlock) return yield* nestedFrames(options);
      yield `[{"txHash":"${TRANSACTION}","result":`;
      yield* nestedFrames(options);
      return yield '}]';
    }
  }
  yield `"error":{"code":-32601,"message":"the method ${method} does not exist, head ${head}"}`;
}

function blockOf([which, whole]: readonly unknown[], { block, head }: Options): object | null {
  const number = which === 'latest' ? head : which === 'safe' || which === 'finalized' ? 0 : Number(which);
  if (Number.isNaN(number) || number > head) return null;
  const transaction = { hash: TRANSACTION, from: SENDER, to: REPEATER, gas: GAS, value: '0x0', input: '0x' };
  return {
    number: hex(number),
    hash: hash(number),
    parentHash: number === 0 ? hash(0xffff) : hash(number - 1),
    timestamp: hex(1_700_000_000 + number),
    difficulty: '0x0',
    gasUsed: number === block ? GAS : '0x0',
    miner: `0x${'ee'.repeat(20)}`,
    transactions: number === block ? [whole === true ? transaction : TRANSACTION] : [],
    uncles: [],
    // An unknown field, so that the hash of the block is not checked.
    somethingNew: true,
  };
}

function* nestedFrames({ calls, inputBytes }: RepeatedCalls): Generator<string> {
  const input = `0x${'5a'.repeat(inputBytes)}`;
  yield `{"from":"${SENDER}","gas":"${GAS}","gasUsed":"${GAS}","to":"${REPEATER}","input":"0x","calls":[`;
  for (let i = 0; i < calls; i++)
    yield `${i > 0 ? ',' : ''}{"from":"${REPEATER}","gas":"0x64","gasUsed":"0x0","to":"${CALLEE}","input":"${input}","value":"0x0","type":"CALL"}`;
  yield '],"value":"0x0","type":"CALL"}';
}

function* flatFrames({ calls, inputBytes, block }: Options): Generator<string> {
  const input = `0x${'5a'.repeat(inputBytes)}`;
  const place = `"blockHash":"${hash(block)}","blockNumber":${block},"transactionHash":"${TRANSACTION}","transactionPosition":0,"type":"call"`;
  const result = '"result":{"gasUsed":"0x0","output":"0x"}';
  yield `[{"action":{"callType":"call","from":"${SENDER}","gas":"${GAS}","input":"0x","to":"${REPEATER}","value":"0x0"},${place},${result},"subtraces":${calls},"traceAddress":[]}`;
  for (let i = 0; i < calls; i++)
    yield `,{"action":{"callType":"call","from":"${REPEATER}","gas":"0x64","input":"${input}","to":"${CALLEE}","value":"0x0"},${place},${result},"subtraces":0,"traceAddress":[${i}]}`;
  yield ']';
}
