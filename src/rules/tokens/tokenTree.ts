/**
 * Trees of tokens. A token that an operator created is the root of a tree. A token that another token created belongs
 * to the tree of its creator. Limits and rate windows belong to the tree, and a token never outlives its creator.
 */
import { CreatorEnded, TooManyTokens } from '../storeErrors.ts';
import { isTokenId, isValidAt, type NewToken, type Token } from './token.ts';

export const MAX_VALID_TOKENS = 1000;
/** Maximum number of valid tokens, up to which tokens that are not an operator's may create more. */
export const MAX_VALID_FOR_TENANTS = 900;
export const MAX_VALID_IN_TREE = 100;
/** Maximum number of ended tokens, that is revoked or expired ones, which remain in the list. */
export const MAX_ENDED_TOKENS = 500;

export interface ValidTokens {
  readonly total: number;
  /** Number of valid tokens in the creator's tree, including its root; 0 if no token is the creator. */
  readonly inTree: number;
}

/** Returns the id of the root of a token's tree. */
export function rootOf({ id, root }: Pick<Token, 'id' | 'root'>): string {
  return root ?? id;
}

/**
 * Returns the part of a new token that follows from its creator. `creator` is undefined if no stored token is the
 * creator: then `by` is a token from the configuration or a command on this machine. Throws `CreatorEnded`.
 */
export function tokenBy(
  { creator, by }: { readonly creator: Token | undefined; readonly by: string },
  token: NewToken,
  moment: string,
): NewToken & { root?: string } {
  // A token that ended may have been removed since the request was authenticated.
  if (creator === undefined ? isTokenId(by) : !isValidAt(creator, moment)) throw new CreatorEnded();
  if (creator === undefined) return token;
  const { expires_on: latest } = creator;
  const isLater = latest !== null && (token.expires_on === null || token.expires_on > latest);
  return { ...token, ...(isLater && { expires_on: latest }), root: rootOf(creator) };
}

/** Throws `TooManyTokens` if the creator may not create one more token. */
export function checkTokenLimits(creator: Token | undefined, { total, inTree }: ValidTokens): void {
  if (creator !== undefined && inTree >= MAX_VALID_IN_TREE)
    throw new TooManyTokens(
      `The tree of the token ${rootOf(creator)} has ${MAX_VALID_IN_TREE} valid tokens, the maximum; revoke one first`,
    );
  const isOperator = creator === undefined || (creator.root === undefined && creator.accounts === 'all');
  if (total >= MAX_VALID_TOKENS || (total >= MAX_VALID_FOR_TENANTS && !isOperator))
    throw new TooManyTokens(
      isOperator
        ? `${MAX_VALID_TOKENS} tokens are valid, the maximum; revoke one first`
        : `${total} tokens are valid; from ${MAX_VALID_FOR_TENANTS} on, only an operator can create one`,
    );
}

/**
 * Returns the valid tokens that a token created, directly or through others. `tree` contains the tokens of its tree in
 * order of creation.
 */
export function validDescendants(id: string, tree: readonly Token[], moment: string): Token[] {
  const creators = new Set([id]);
  const valid: Token[] = [];
  for (const token of tree) {
    if (token.created_by === undefined || !creators.has(token.created_by)) continue;
    creators.add(token.id);
    if (isValidAt(token, moment)) valid.push(token);
  }
  return valid;
}

/**
 * Returns the ended tokens that do not remain in the list. Each tree keeps those that ended last, so that a tree with
 * many tokens does not displace the tokens of others.
 */
export function displacedTokens(tokens: Iterable<Token>, moment: string): Token[] {
  const ended = [...tokens].filter((token) => !isValidAt(token, moment));
  if (ended.length <= MAX_ENDED_TOKENS) return [];
  ended.sort((a, b) => (endOf(a) > endOf(b) ? -1 : 1));
  const counts = new Map<string, number>();
  const ranked = ended.map((token) => {
    const rank = counts.get(rootOf(token)) ?? 0;
    counts.set(rootOf(token), rank + 1);
    return { token, rank };
  });
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.slice(MAX_ENDED_TOKENS).map(({ token }) => token);
}

const endOf = ({ revoked_on, expires_on }: Token): string => revoked_on ?? expires_on ?? '';
