/** Request bodies, compared with JSON.parse and the decisions on JSON-RPC (docs/internals/decisions/gateway.md). */
import { isUtf8 } from 'node:buffer';
import { type CallHandler, type HttpAnswer, handleBody, RpcError } from '../../src/ethereum/jsonrpc/index.ts';
import { must, type Target } from '../engine/target.ts';

const SUPPORTED = new Set(['known', 'later', 'changes', 'fails']);
/** Smaller bodies are always parsed. */
const MIN_SCANNED_BYTES = 1024;

/** Returns the number of parameters as the result. */
const handler: CallHandler = {
  maxBatchBytes: 10_000,
  admit: (calls) => must(calls >= 1, 'a body has at least one call'),
  supports: (method) => SUPPORTED.has(method),
  unsupported: () => {},
  inTurn: (work) => work(),
  changesState: (method) => method === 'changes',
  handle({ method, params }) {
    if (method === 'fails') throw new RpcError('invalidParams', 'requested failure');
    const result = Buffer.from(String(params.length));
    return method === 'later' ? Promise.resolve(result) : result;
  },
  fault(error) {
    throw error;
  },
};

export function open(): Target {
  return {
    seeds: seeds(),
    dictionary: [
      ...['{"jsonrpc":"2.0","id":1,"method":"known","params":[]}', '"jsonrpc":"2.0"', '"method":"', '"id":'],
      ...[
        '"params":',
        'known',
        'later',
        'changes',
        'fails',
        'unknown',
        '"method"',
        '"id"',
        '\\u0064',
        'null',
      ],
      ...['9007199254740992', '-1', '1.0', '1e2', '__proto__', 'é', '\ud83d\ude00', ',', '[', ']', '{', '}'],
    ],
    maxBytes: 6000,
    format: 'json',
    maxWork: 5_000_000,
    async run(input) {
      const body = Buffer.from(input);
      const answer = await handleBody(body, handler);
      const reported = read(answer);
      const expected = expectedOf(body);
      if (body.length >= MIN_SCANNED_BYTES && isRefusal(reported) && expected.reported.status !== 403) {
        // A large body may be rejected without parsing, even if it is not a valid request, but not if it has a
        // supported method.
        must(!expected.carriedOut, 'a supported method is not rejected', body.toString('latin1'));
        return;
      }
      must(sameJson(reported, expected.reported), 'the response follows JSON-RPC and the decisions', {
        reported,
        expected: expected.reported,
      });
    },
  };
}

/** The status of a response, and for each entry its id and its error code or result. */
interface Reported {
  readonly status: number;
  readonly entries: readonly (readonly [id: unknown, outcome: unknown])[] | 'none';
  readonly isBatch: boolean;
}

function read({ status, parts, stream }: HttpAnswer): Reported {
  must(stream === undefined, 'a response has no stream unless a handler returns one');
  const text = parts.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('');
  if (parts.length === 0) return { status, entries: 'none', isBatch: false };
  const value: unknown = JSON.parse(text);
  const entries = (Array.isArray(value) ? value : [value]).map((entry) => {
    must(entry.jsonrpc === '2.0', 'each response has the JSON-RPC version');
    return [entry.id, entry.error?.code ?? entry.result] as const;
  });
  return { status, entries, isBatch: Array.isArray(value) };
}

const isRefusal = ({ status, isBatch, entries }: Reported): boolean =>
  status === 403 && !isBatch && entries !== 'none' && entries[0]?.[1] === -32601;

interface Expected {
  readonly reported: Reported;
  readonly carriedOut: boolean;
}

function expectedOf(body: Buffer): Expected {
  const refused = (code: number, status = 400): Expected => ({
    reported: { status, entries: [[null, code]], isBatch: false },
    carriedOut: false,
  });
  const value = isUtf8(body) ? parse(body.toString()) : undefined;
  if (value === undefined) return refused(-32700);
  if (!Array.isArray(value)) return expectedSingle(value);
  if (value.length === 0) return refused(-32600);
  const calls = value.map(callOf);
  const wanted = calls.filter(({ id }) => id !== undefined);
  if (value.length > 100) {
    if (value.length > 1_000 || wanted.length === 0) return refused(-32005, 200);
    const entries = wanted.map(({ id }) => [id, -32005] as const);
    return { reported: { status: 200, entries, isBatch: true }, carriedOut: false };
  }
  const noneSupported =
    calls.some(({ code }) => code === -32601) && calls.every(({ count }) => count === undefined);
  const status = noneSupported ? 403 : 200;
  const entries = wanted.map(({ id, code, count }) => [id, code ?? count] as const);
  if (entries.length > 0) return { reported: { status, entries, isBatch: true }, carriedOut: !noneSupported };
  return noneSupported
    ? refused(-32601, 403)
    : { reported: { status: 204, entries: 'none', isBatch: false }, carriedOut: true };
}

function expectedSingle(value: unknown): Expected {
  const { id, code, count } = callOf(value);
  const entries = [[id ?? null, code ?? count] as const];
  if (code === -32601) return { reported: { status: 403, entries, isBatch: false }, carriedOut: false };
  if (code === -32600) return { reported: { status: 400, entries, isBatch: false }, carriedOut: false };
  if (id === undefined)
    return { reported: { status: 204, entries: 'none', isBatch: false }, carriedOut: true };
  return { reported: { status: 200, entries, isBatch: false }, carriedOut: code === undefined };
}

interface ExpectedCall {
  readonly id: unknown;
  readonly code?: number;
  /** Number of parameters; only for calls that are executed. */
  readonly count?: number;
}

function callOf(value: unknown): ExpectedCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { id: null, code: -32600 };
  const { jsonrpc, id, method, params } = value as Record<string, unknown>; // a JSON object
  const isId =
    id === undefined ||
    id === null ||
    Number.isSafeInteger(id) ||
    (typeof id === 'string' && id.length <= 256);
  if (!isId) return { id: null, code: -32600 };
  const isCall = jsonrpc === '2.0' && typeof method === 'string' && method.length <= 256;
  if (!isCall) return { id: id ?? null, code: -32600 };
  if (params !== undefined && params !== null && !Array.isArray(params))
    return { id: id ?? null, code: -32602 };
  if (!SUPPORTED.has(method)) return { id, code: -32601 };
  const count = (params ?? []).length;
  return method === 'fails' ? { id, code: -32602, count } : { id, count };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function seeds(): Buffer[] {
  const call = (method: string, more: object = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: [1],
    ...more,
  });
  const values: unknown[] = [
    call('known'),
    call('later', { id: 'x', params: [] }),
    call('unknown', { id: null }),
    { jsonrpc: '2.0', method: 'known' },
    [call('known'), call('unknown', { id: 2 }), call('fails', { id: 3 }), call('changes'), 7, {}],
    [{ jsonrpc: '2.0', method: 'known' }],
    Array.from({ length: 101 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'known' })),
    call('unknown', { params: ['x'.repeat(1200)] }),
    { method: 'unknown', params: [{ a: 'y'.repeat(1200) }], id: 5, jsonrpc: '2.0' },
    { jsonrpc: '2.0', id: 'z', method: 'unknown', params: [[], { id: 1 }, 'z'.repeat(1200)] },
  ];
  return values.map((value) => Buffer.from(JSON.stringify(value)));
}
