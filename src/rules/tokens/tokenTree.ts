/**
 * Trees of tokens. A token that an operator created is the root of a tree. A token that another token created belongs
 * to the tree of its creator. Limits and rate windows belong to the tree, and a token never outlives its creator.
 */
import { CreatorEnded, TooManyTokens } from '../storeErrors.ts';
import { isValidAt, type NewToken, type Token } from './token.ts';

export const MAX_VALID_TOKENS = 1000;
/** Maximum number of valid tokens, up to which tokens that are not an operator's may create more. */
export const MAX_VALID_FOR_TENANTS = 900;
export const MAX_VALID_IN_TREE = 100;

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
 * creator: then it is a token from the configuration or a command on this machine. Throws `CreatorEnded`.
 */
export function tokenBy(
  creator: Token | undefined,
  token: NewToken,
  moment: string,
): NewToken & { root?: string } {
  if (creator === undefined) return token;
  if (!isValidAt(creator, moment)) throw new CreatorEnded();
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
