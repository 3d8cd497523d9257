import { InvalidRule, pointerTo, shown } from '../index.ts';
import { ApiError } from './errors.ts';

// A byte order mark is dropped, as RFC 8259 lets a reader do; bytes that are no UTF-8 throw.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON value in a body, whatever content type it came with (decisions A). Throws `malformedJson`, and
 * `InvalidRule` where an object names a member twice: readers differ on which one counts, and a rule is no place
 * to guess.
 */
export function readBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw malformed('The body is empty; it must be a JSON object');
  const { text, value } = parse(body);
  if (typeof value === 'object' && value !== null) refuseRepeatedMembers(text);
  return value;
}

function parse(body: Buffer): { text: string; value: unknown } {
  try {
    const text = strictUtf8.decode(body);
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw malformed(error instanceof SyntaxError ? 'The body is not JSON' : 'The body is not UTF-8');
  }
}

function malformed(reason: string): ApiError {
  return new ApiError('malformedJson', { chain: [{ code: 6007, message: reason }] });
}

// A token of valid JSON that matters for finding the members of the outermost object.
const jsonToken = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

function refuseRepeatedMembers(text: string): void {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  let lastString = '';
  for (const [token] of text.matchAll(jsonToken)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token !== ':') lastString = token;
    else if (depth === 1) {
      const member = String(JSON.parse(lastString));
      (seen.has(member) ? repeated : seen).add(member);
    }
  }
  if (repeated.size === 0) return;
  throw new InvalidRule(
    [...repeated].slice(0, MAX_LISTED).map((member) => ({
      pointer: pointerTo(member),
      message: `${shown(member)} comes more than once; send each field once`,
    })),
  );
}

/** Most repeated members that one answer lists. */
const MAX_LISTED = 100;
