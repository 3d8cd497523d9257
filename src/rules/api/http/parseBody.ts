import { InvalidRule, pointerTo, quoteText } from '../../index.ts';
import { ApiError } from './errors.ts';

// Decoder that removes a byte order mark, as RFC 8259 allows, and throws for invalid UTF-8.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as JSON. Throws `malformedJson` if it is not JSON. Throws `InvalidRule` if the outermost
 * object has two members of one name, because parsers differ in which of them they use.
 */
export function parseBody(body: unknown): unknown {
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

// Matches the strings, brackets and colons of a JSON text, which show the members of the outermost object.
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
      message: `${quoteText(member)} occurs more than once; send each field once`,
    })),
  );
}

const MAX_LISTED = 100;
