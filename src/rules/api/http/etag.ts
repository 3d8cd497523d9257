import { createHash } from 'node:crypto';
import { parseTimestamp, quoteText } from '../../index.ts';
import { ApiError } from './errors.ts';

interface Stored {
  readonly modified_on: string;
}

/** Returns the strong ETag of a rule or entry: its modification time, which is unique among all changes of a store. */
export function etagOf(stored: Stored): string {
  return `"${parseTimestamp(stored.modified_on).toString(36)}"`;
}

export function etagOfBody(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, BODY_TAG_CHARACTERS)}"`;
}

/** 22 characters are 132 bits of SHA-256, enough to rule out collisions. */
const BODY_TAG_CHARACTERS = 22;

const entityTag = /^(W\/)?("[!#-~\x80-\xff]*")$/;

/** Parses a list of strong and weak entity tags (RFC 9110, 8.8.3). Returns undefined for invalid syntax. */
function readTags(header: string): { strong: string[]; weak: string[] } | undefined {
  const tags = { strong: [] as string[], weak: [] as string[] };
  // Splitting at commas is safe: Floodgate's tags contain none, and a foreign tag with a comma matches nothing anyway.
  for (const item of header.split(',').map((text) => text.trim())) {
    if (item === '') continue;
    const [, isWeak, tag] = entityTag.exec(item) ?? [];
    if (tag === undefined) return undefined;
    (isWeak === undefined ? tags.strong : tags.weak).push(tag);
  }
  return tags;
}

/** Throws `preconditionFailed` unless `If-Match` (RFC 9110, 13.1.1) matches. Weak and invalid tags never match. */
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

/** Checks `If-Match` for a collection: only `*` matches. ETags belong to one rule and throw `preconditionFailed`. */
export function checkCollectionIfMatch(header: string | undefined): void {
  if (header === undefined || header.trim() === '*') return;
  throw new ApiError('preconditionFailed', {
    message: `If-Match is ${quoteText(header)}; allowed for a collection: *, or no If-Match. Nothing was deleted`,
  });
}
