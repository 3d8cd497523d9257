import { createHash } from 'node:crypto';
import { parseTimestamp, shown } from '../index.ts';
import { ApiError } from './errors.ts';

/** What has a tag: a rule, an entry of a list. */
interface Stored {
  readonly modified_on: string;
}

/** A strong tag of a rule or an entry as it stands: the moment of its last change, which no two changes of a store share. */
export function etagOf(stored: Stored): string {
  return `"${parseTimestamp(stored.modified_on).toString(36)}"`;
}

/** A strong tag of an answer by what it shows. */
export function etagOfBody(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, BODY_TAG_CHARACTERS)}"`;
}

/** 132 bits: as good as never the same for two bodies. */
const BODY_TAG_CHARACTERS = 22;

const entityTag = /^(W\/)?("[!#-~\x80-\xff]*")$/;

/** The tags of a list of them (RFC 9110, 8.8.3), weak ones apart; undefined where it is no such list. */
function readTags(header: string): { strong: string[]; weak: string[] } | undefined {
  const tags = { strong: [] as string[], weak: [] as string[] };
  // No comma stands in a tag of ours, so that a list may be split at each; a foreign tag with one matches nothing anyway.
  for (const item of header.split(',').map((text) => text.trim())) {
    if (item === '') continue;
    const [, isWeak, tag] = entityTag.exec(item) ?? [];
    if (tag === undefined) return undefined;
    (isWeak === undefined ? tags.strong : tags.weak).push(tag);
  }
  return tags;
}

/**
 * Checks an `If-Match` header (RFC 9110, 13.1.1) against a rule or an entry. Throws `preconditionFailed` where the caller
 * knows another state of it. Weak tags never match, and nor does a header that is no list of tags.
 */
export function checkIfMatch(header: string | undefined, stored: Stored): void {
  if (header === undefined || header.trim() === '*') return;
  const current = etagOf(stored);
  if (readTags(header)?.strong.includes(current)) return;
  throw new ApiError('preconditionFailed', {
    message: `It was changed since: its ETag is ${current} now. Read it again and decide anew`,
    headers: { etag: current },
  });
}

/** Whether an `If-None-Match` header (RFC 9110, 13.1.2) says that the caller has what is to be answered. */
export function isKnownTo(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const tags = readTags(header);
  return tags !== undefined && [...tags.strong, ...tags.weak].includes(etag);
}

/**
 * Checks an `If-Match` header against a collection, which exists always: only `*` matches. Throws
 * `preconditionFailed` for any other, as its sender means one rule, or a state that nobody can vouch for.
 */
export function checkCollectionIfMatch(header: string | undefined): void {
  if (header === undefined || header.trim() === '*') return;
  throw new ApiError('preconditionFailed', {
    message: `If-Match is ${shown(header)}; allowed for all of a collection: *, or leave it out. Nothing was deleted`,
  });
}
