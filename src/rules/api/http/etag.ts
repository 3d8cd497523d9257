import { createHash } from 'node:crypto';
import { parseTimestamp, quoteText } from '../../index.ts';
import { ApiError } from './errors.ts';

interface Stored {
  readonly modified_on: string;
}

/** Returns the strong ETag of a rule or list entry: its `modified_on`, which is unique among changes of a store. */
export function etagOf(stored: Stored): string {
  return `"${parseTimestamp(stored.modified_on).toString(36)}"`;
}

export function etagOfBody(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, BODY_TAG_CHARACTERS)}"`;
}

/** Number of characters in the ETag of a body. 22 characters have 132 bits of SHA-256, so no two bodies collide. */
const BODY_TAG_CHARACTERS = 22;

const entityTag = /^(W\/)?("[!#-~\x80-\xff]*")$/;

/** Parses a header with strong and weak entity tags (RFC 9110, 8.8.3). Returns undefined if the syntax is invalid. */
function readTags(header: string): { strong: string[]; weak: string[] } | undefined {
  const tags = { strong: [] as string[], weak: [] as string[] };
  // Tags can be split at commas: Floodgate's tags contain none, and a foreign tag with a comma matches nothing
  // anyway.
  for (const item of header.split(',').map((text) => text.trim())) {
    if (item === '') continue;
    const [, isWeak, tag] = entityTag.exec(item) ?? [];
    if (tag === undefined) return undefined;
    (isWeak === undefined ? tags.strong : tags.weak).push(tag);
  }
  return tags;
}

/**
 * Throws `preconditionFailed` unless `If-Match` (RFC 9110, 13.1.1) matches the stored object or is absent. Weak and
 * invalid tags never match.
 */
export function checkIfMatch(header: string | undefined, stored: Stored): void {
  if (header === undefined || header.trim() === '*') return;
  const current = etagOf(stored);
  if (readTags(header)?.strong.includes(current)) return;
  throw new ApiError('preconditionFailed', {
    message: `The stored version has changed: its ETag is ${current}. Read it again before you change it`,
    headers: { etag: current },
  });
}

/** Returns whether an `If-None-Match` header (RFC 9110, 13.1.2) matches the ETag, so that 304 can be sent. */
export function matchesIfNoneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const tags = readTags(header);
  return tags !== undefined && [...tags.strong, ...tags.weak].includes(etag);
}

/**
 * Checks the `If-Match` of a request to delete a whole collection. Throws `preconditionFailed` unless it is `*` or
 * absent, because an ETag belongs to a single object.
 */
export function checkCollectionIfMatch(header: string | undefined): void {
  if (header === undefined || header.trim() === '*') return;
  throw new ApiError('preconditionFailed', {
    message: `If-Match is ${quoteText(header)}; allowed for a collection: *, or no If-Match. Nothing was deleted`,
  });
}
