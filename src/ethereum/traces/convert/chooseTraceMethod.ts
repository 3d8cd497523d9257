import { REVERTED } from './errorName.ts';
import { asFrameList } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';
import { asObject } from './readJson.ts';
import { plain, TraceFormatError } from './traceFormatError.ts';

/** A way of getting traces from a node. */
export type TraceMethod = 'trace_block' | 'flatCallTracer' | 'callTracer';

/** What a node answered to a call, as its JSON-RPC response has it. */
export type ProbeResponse =
  | { readonly result: unknown }
  | { readonly error: { readonly code?: number; readonly message: string } };

/** The test calls, all for one block, best one with transactions; what was not asked is left out. */
export interface ProbeResponses {
  /** `trace_block` of the block. */
  readonly traceBlock?: ProbeResponse;
  /** `debug_traceBlockByNumber` with `{"tracer":"callTracer"}`. */
  readonly callTracer?: ProbeResponse;
  /** `debug_traceBlockByNumber` with `{"tracer":"flatCallTracer","tracerConfig":{"includePrecompiles":true}}`. */
  readonly flatCallTracer?: ProbeResponse;
}

export interface TraceMethodChoice {
  readonly method: TraceMethod | 'none';
  /** What was seen of each way that was tried, in plain words for the owner of the node. */
  readonly remarks: readonly string[];
}

/** Longest text of a node's error that a remark repeats, in characters. */
const MAX_ERROR_CHARS = 120;

/**
 * Which way of getting traces a node offers, by its answers to test calls. `trace_block` first: it has every
 * value exactly and the rewards with it. Then geth's `callTracer`, which in every version tells CREATE from CREATE2
 * and sends the fewest bytes; then `flatCallTracer`.
 */
export function chooseTraceMethod(responses: ProbeResponses): TraceMethodChoice {
  const remarks: string[] = [];
  const offered = CANDIDATES.filter(({ method, key, prove }) => {
    const response = responses[key];
    if (response === undefined) return false;
    const { works, remark } = assess(response, prove);
    remarks.push(`${method}: ${remark}`);
    return works;
  });
  const method = offered[0]?.method ?? 'none';
  if (method === 'callTracer' || method === 'flatCallTracer')
    remarks.push('gasUsed of a root frame is too low where gas was refunded: geth does not tell it');
  return { method, remarks };
}

interface Candidate {
  readonly method: TraceMethod;
  readonly key: keyof ProbeResponses;
  /** What an answer shows, as a remark. @throws TraceFormatError where it is not this way's answer. */
  readonly prove: (result: unknown) => string;
}

const WORKS = 'works';
const NOTHING_TO_PROVE_IT_WITH = 'answers; the test block had nothing to prove it with';

/** In order of preference. */
const CANDIDATES: readonly Candidate[] = [
  { method: 'trace_block', key: 'traceBlock', prove: proveTraceBlock },
  { method: 'callTracer', key: 'callTracer', prove: (result) => proveEach(result, proveNested) },
  { method: 'flatCallTracer', key: 'flatCallTracer', prove: (result) => proveEach(result, proveFlat) },
];

function assess(response: ProbeResponse, prove: Candidate['prove']): { works: boolean; remark: string } {
  if ('error' in response) return { works: false, remark: explain(response.error) };
  try {
    return { works: true, remark: prove(response.result) };
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    return { works: false, remark: `answers something else: ${error.message}` };
  }
}

/** JSON-RPC's code of a method that a node does not have; many nodes say it in words only. */
const METHOD_NOT_FOUND = -32_601;
const SAYS_NOT_OFFERED =
  /not found|not supported|unsupported|not available|does not exist|unknown tracer|disabled/i;
const SAYS_NO_STATE = /missing trie node|state .*(not|un)\s?available|pruned|historical state|reexec/i;

function explain({ code, message }: { readonly code?: number; readonly message: string }): string {
  const said = `"${plain(message, MAX_ERROR_CHARS)}"`;
  // A node without the block's state has the method: the state is looked for first, as its words may say "not available" too.
  if (SAYS_NO_STATE.test(message))
    return `offered, but the node no longer has the state of the test block: ${said}`;
  if (code === METHOD_NOT_FOUND || SAYS_NOT_OFFERED.test(message)) return `not offered: ${said}`;
  return `failed: ${said}`;
}

function proveTraceBlock(answer: unknown): string {
  // What is read is taken over; the caller's answer stays its own.
  const traces = parseTraceBlock(structuredClone(answer));
  if (traces.length === 0) return NOTHING_TO_PROVE_IT_WITH;
  const hasBareRevert = traces.some(
    (trace) => trace.type !== 'reward' && trace.error === REVERTED && trace.result === null,
  );
  return hasBareRevert ? `${WORKS}, but leaves out what reverted calls gave back` : WORKS;
}

function proveEach(answer: unknown, prove: (result: unknown) => void): string {
  const place = { what: 'transaction', index: -1 };
  const list = asFrameList(answer, { what: 'debug_traceBlockByNumber', index: -1 }, '');
  for (const element of list) {
    place.index++;
    prove(asObject(element, place, '')['result']);
  }
  return list.length > 0 ? WORKS : NOTHING_TO_PROVE_IT_WITH;
}

function proveNested(result: unknown): void {
  const place = { what: 'callTracer result', index: -1 };
  const frame = asObject(result, place, '');
  for (const member of ['type', 'from', 'gas', 'gasUsed'])
    if (typeof frame[member] !== 'string')
      throw new TraceFormatError(place, member, { expected: 'a text', got: frame[member] });
}

/** anvil answers `{}` for the tracer that it does not know. */
function proveFlat(result: unknown): void {
  const frames = asFrameList(result, { what: 'flatCallTracer result', index: -1 }, '');
  if (frames.length === 0)
    throw new TraceFormatError({ what: 'flatCallTracer result', index: -1 }, '', {
      expected: 'frames',
      got: [],
    });
  const reader = new FrameReader();
  frames.forEach((frame, index) => {
    reader.read(structuredClone(frame), index);
  });
}
