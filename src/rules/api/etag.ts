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

const entityTag = /(?:W\/)?"[^"]*"/g;

/**
 * Checks an `If-Match` header (RFC 9110, 13.1.1) against a rule or an entry. Throws `preconditionFailed` where the caller knows
 * another state of it. Weak tags never match.
 */
export function checkIfMatch(header: string | undefined, stored: Stored): void {
  if (header === undefined || header.trim() === '*') return;
  const current = etagOf(stored);
  if (header.match(entityTag)?.includes(current)) return;
  throw new ApiError('preconditionFailed', {
    message: `It was changed since: its ETag is ${current} now. Read it again and decide anew`,
    headers: { etag: current },
  });
}

/**
 * Checks an `If-Match` header against a collection, which exists always and has no tag: only `*` matches. Throws
 * `preconditionFailed` for any other, as its sender means one rule, or a state that nobody can vouch for.
 */
export function checkCollectionIfMatch(header: string | undefined): void {
  if (header === undefined || header.trim() === '*') return;
  throw new ApiError('preconditionFailed', {
    message: `If-Match is ${shown(header)}; allowed for all of a collection: *, or leave it out. Nothing was deleted`,
  });
}
