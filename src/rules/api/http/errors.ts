import { TooMuchUnsentError } from '../../../platform/http/index.ts';
import {
  CreatorEnded,
  type Fault,
  InvalidRule,
  KeyReused,
  OutcomeUnknown,
  StoreUnavailable,
  TooManyEntries,
  TooManyRules,
  TooManyTokens,
  TooManyZonePolicies,
  ZoneHasPolicy,
} from '../../index.ts';
import type { EnvelopeEntry } from './envelope.ts';

/** Seconds in `Retry-After` if the store is unavailable. They are few, because clients wait as long as requested. */
const STORE_RETRY_AFTER_SECONDS = 1;

/** Errors of the rules API by name, as in the table of docs/reference/rules-api.md. */
export const errorTable = {
  unauthenticated: { status: 401, code: 10000, message: 'Authentication error' },
  malformedAuthorization: { status: 400, code: 6003, message: 'Invalid request headers' },
  forbidden: { status: 403, code: 10000, message: 'Authentication error' },
  noRoute: {
    status: 404,
    code: 7000,
    message: 'No route for that URI',
    hint: 'GET /client/v4/openapi.json lists all paths',
  },
  notFound: {
    status: 404,
    code: 7003,
    message: 'Could not route to that URI, perhaps your object identifier is invalid?',
  },
  methodNotAllowed: { status: 405, code: 10405, message: 'Method not allowed' },
  malformedJson: { status: 400, code: 6007, message: 'Malformed JSON in request body' },
  invalid: { status: 400, code: 10001, message: 'Invalid request' },
  bodyTooLarge: { status: 413, code: 10413, message: 'Request body too large' },
  preconditionFailed: { status: 412, code: 10412, message: 'Precondition failed' },
  tooManyRules: {
    status: 409,
    code: 10409,
    message: 'Too many rules, entries, zone policies, tokens or keys',
  },
  zoneHasPolicy: { status: 409, code: 10411, message: 'The zone already has a policy' },
  keyReused: { status: 422, code: 10422, message: 'Idempotency-Key reused' },
  rateLimited: { status: 429, code: 10429, message: 'Too many requests' },
  storeUnavailable: { status: 503, code: 10503, message: 'The rule store is unavailable' },
  outcomeUnknown: { status: 503, code: 10504, message: 'The outcome of the change is unknown' },
  malformedRequest: { status: 400, code: 10400, message: 'The request is not valid HTTP' },
  requestTimeout: { status: 408, code: 10408, message: 'The request did not arrive in time' },
  certificateRefused: { status: 403, code: 10403, message: 'The client certificate is not accepted' },
  expectationFailed: { status: 417, code: 10417, message: 'The Expect header must be 100-continue' },
  hostRefused: { status: 421, code: 10421, message: 'The Host is not served here' },
  headersTooLarge: { status: 431, code: 10431, message: 'The request headers exceed 16 KiB' },
  internal: { status: 500, code: 10500, message: 'Internal error' },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** What the client can do, as the default of `error_chain`. */
  readonly hint?: string;
}

/**
 * Header that stops Cloudflare's clients from retrying after 409 or 5xx, which would fail again or repeat a change.
 */
const NO_RETRY = { 'x-should-retry': 'false' };

export type ErrorCase = keyof typeof errorTable;

/** Error response of the rules API: a row of `errorTable` with details of the request. */
export class ApiError extends Error {
  readonly status: number;
  readonly entries: readonly EnvelopeEntry[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(errorCase: ErrorCase, details: ErrorDetails = {}) {
    const row: ErrorRow = errorTable[errorCase];
    const chain = details.chain ?? (row.hint && [{ code: row.code, message: row.hint }]);
    const message = details.message ?? row.message;
    super(message);
    this.name = 'ApiError';
    this.status = row.status;
    this.headers = details.headers ?? {};
    this.entries = details.faults
      ? details.faults.map((fault) => entryOf(row.code, fault))
      : [{ code: row.code, message, ...(chain && { error_chain: chain }) }];
  }
}

/** Returns the error for a token that is unknown, revoked or expired, with the header of RFC 6750. */
export const invalidToken = (): ApiError =>
  new ApiError('unauthenticated', {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    chain: [
      {
        code: errorTable.unauthenticated.code,
        message: 'The token is unknown, expired or revoked: floodgate token create creates one',
      },
    ],
  });

export const methodNotAllowed = (method: string, allowed: string): ApiError =>
  new ApiError('methodNotAllowed', {
    message: `${method} is not allowed here; allowed: ${allowed}`,
    headers: { allow: allowed },
  });

interface ErrorDetails {
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly faults?: readonly Fault[];
  readonly chain?: readonly EnvelopeEntry[];
}

function entryOf(code: number, { message, pointer }: Fault): EnvelopeEntry {
  return pointer === undefined ? { code, message } : { code, message, source: { pointer } };
}

/** Returns the error response for an exception; undefined if it is an internal error. */
export function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof InvalidRule) return new ApiError('invalid', { faults: error.faults });
  if (isLimitReached(error))
    return new ApiError('tooManyRules', { message: error.message, headers: NO_RETRY });
  if (error instanceof ZoneHasPolicy)
    return new ApiError('zoneHasPolicy', { message: error.message, headers: NO_RETRY });
  if (error instanceof CreatorEnded) return invalidToken();
  if (error instanceof KeyReused) return new ApiError('keyReused', { message: error.message });
  if (error instanceof OutcomeUnknown)
    return new ApiError('outcomeUnknown', {
      message:
        'The connection to the rule store was lost during the change, and its outcome is unknown. Check before you try again',
      headers: { ...NO_RETRY, 'retry-after': String(STORE_RETRY_AFTER_SECONDS) },
    });
  if (error instanceof StoreUnavailable)
    return new ApiError('storeUnavailable', {
      message: 'The rule store cannot be reached or written now; nothing was changed. Try again',
      headers: { 'retry-after': String(STORE_RETRY_AFTER_SECONDS) },
    });
  if (error instanceof TooMuchUnsentError)
    return new ApiError('rateLimited', { message: error.message, headers: error.headers });
  return fromFramework(error);
}

const LIMITS = [TooManyRules, TooManyEntries, TooManyZonePolicies, TooManyTokens];

const isLimitReached = (error: unknown): error is Error => LIMITS.some((limit) => error instanceof limit);

/** Returns the error response for an error of Fastify that a request caused; undefined for another error. */
function fromFramework(error: unknown): ApiError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('bodyTooLarge', { message: `The body exceeds ${MAX_BODY_BYTES} bytes` });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('malformedJson', {
        chain: [{ code: 6007, message: 'The body is shorter or longer than its Content-Length' }],
      });
    default:
      return undefined;
  }
}

/** Maximum size of a request body. A rule has about 300 bytes. */
export const MAX_BODY_BYTES = 64 * 1024;
