/** The trace and parent span of a request, from its `traceparent` header (W3C Trace Context). */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Matches a `traceparent` header. Version 00 has only these four fields; in newer versions, others may follow. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_CHARACTERS = 256;
const VERSION = '00';
const INVALID_VERSION = 'ff';
const NO_ID = /^0+$/;
const SAMPLED = 1;

/** Parses a `traceparent` header. Returns undefined if it is missing or invalid; a new trace starts then. */
export function parseTraceparent(header: string | readonly string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string' || header.length > MAX_CHARACTERS) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === INVALID_VERSION) return undefined;
  if (version === VERSION && more !== undefined) return undefined;
  if (NO_ID.test(traceId) || NO_ID.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `${VERSION}-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
