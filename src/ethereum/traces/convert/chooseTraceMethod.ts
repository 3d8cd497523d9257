import { REVERTED } from './errorName.ts';
import { asFrameList } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { asObject } from './json/readJson.ts';
import { plain, TraceFormatError } from './json/traceFormatError.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';

/** Method with which traces are read from a node. */
export type TraceMethod = 'trace_block' | 'flatCallTracer' | 'callTracer';

export type ProbeResponse =
  | { readonly result: unknown }
  | { readonly error: { readonly code?: number; readonly message: string } };

/** A node's responses to test requests for one block, which should have transactions. All members are optional. */
export interface ProbeResponses {
  readonly traceBlock?: ProbeResponse;
  /** `debug_traceBlockByNumber` with `{"tracer":"callTracer"}`. */
  readonly callTracer?: ProbeResponse;
  /** `debug_traceBlockByNumber` with `{"tracer":"flatCallTracer","tracerConfig":{"includePrecompiles":true}}`. */
  readonly flatCallTracer?: ProbeResponse;
}

export interface TraceMethodChoice {
  readonly method: TraceMethod | 'none';
  /** For the operator of the node: what the response to each tested method shows. */
  readonly remarks: readonly string[];
}

/** Maximum number of characters of a node's error message in a remark. */
const MAX_ERROR_CHARS = 120;

/**
 * Chooses the trace method for a node. `trace_block` is preferred, because it is exact and has rewards. `callTracer`
 * is second: every version of it distinguishes CREATE from CREATE2, and its responses are the shortest.
 * `flatCallTracer` is last.
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
    remarks.push('gasUsed of a root frame is too low if gas was refunded: geth does not report refunds');
  return { method, remarks };
}

interface Candidate {
  readonly method: TraceMethod;
  readonly key: keyof ProbeResponses;
  /** Validates a result and returns a remark. @throws TraceFormatError if the result does not fit the method. */
  readonly prove: (result: unknown) => string;
}

const WORKS = 'works';
const NOTHING_TO_PROVE_IT_WITH = 'responds; not verified, because the test block has no traces';

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
    return { works: false, remark: `unexpected result: ${error.message}` };
  }
}

/** JSON-RPC error code for an unknown method. Many nodes send another code, and say it only in the message. */
const METHOD_NOT_FOUND = -32_601;
const NOT_OFFERED_PATTERN =
  /not found|not supported|unsupported|not available|does not exist|unknown tracer|disabled/i;
const NO_STATE_PATTERN = /missing trie node|state .*(not|un)\s?available|pruned|historical state|reexec/i;

function explain({ code, message }: { readonly code?: number; readonly message: string }): string {
  const said = `"${plain(message, MAX_ERROR_CHARS)}"`;
  // Missing state is checked first: the message may also contain "not available", although the method exists.
  if (NO_STATE_PATTERN.test(message))
    return `offered, but the node no longer has the state of the test block: ${said}`;
  if (code === METHOD_NOT_FOUND || NOT_OFFERED_PATTERN.test(message)) return `not offered: ${said}`;
  return `failed: ${said}`;
}

function proveTraceBlock(answer: unknown): string {
  // The result is not copied first, because repeated long data may need much more memory. Parsing changes nothing.
  const traces = parseTraceBlock(answer);
  if (traces.length === 0) return NOTHING_TO_PROVE_IT_WITH;
  const hasBareRevert = traces.some(
    (trace) => trace.type !== 'reward' && trace.error === REVERTED && trace.result === null,
  );
  return hasBareRevert ? `${WORKS}, but omits the output of reverted calls` : WORKS;
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
      throw new TraceFormatError(place, member, { expected: 'a string', got: frame[member] });
}

/** Checks that a result is a list of frames and not empty. For an unknown tracer, anvil returns `{}`. */
function proveFlat(result: unknown): void {
  const frames = asFrameList(result, { what: 'flatCallTracer result', index: -1 }, '');
  if (frames.length === 0)
    throw new TraceFormatError({ what: 'flatCallTracer result', index: -1 }, '', {
      expected: 'frames',
      got: [],
    });
  const reader = new FrameReader();
  frames.forEach((frame, index) => {
    reader.read(frame, index);
  });
}
