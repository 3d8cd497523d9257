import { ApiError, Authenticator, ConsoleSessions, SessionCookies, tokenOf } from '../../rules/api/index.ts';
import type { ServerContext } from '../base.ts';
import { configuredTokensOf } from '../data/configuredTokens.ts';
import type { Stores } from '../data/openStores.ts';
import type { ConsoleGatewayDependencies } from './consoleGateway.ts';

export interface OpenedSessions extends Pick<ConsoleGatewayDependencies, 'cookies' | 'findAccess'> {
  readonly sessions: ConsoleSessions;
  /** Returns the code of a sign-in link for a token. Throws `ApiError` if the token is not valid. */
  readonly newLink: (token: string) => Promise<string>;
}

/** Returns the sessions of the console; undefined if this server has no console. */
export function openSessions(
  { config, isHttps }: ServerContext,
  { storage, tokenUses: uses }: Stores,
): OpenedSessions | undefined {
  if (!config.console.enabled || storage === undefined || uses === undefined) return undefined;
  const { tokens, sessions: store } = storage;
  const cookies = new SessionCookies(isHttps);
  const sessions = new ConsoleSessions({}, { store, cookies });
  const configuredTokens = configuredTokensOf(config);
  const authenticator = new Authenticator({ configuredTokens }, { tokens, uses, sessions });
  return {
    sessions,
    cookies,
    async newLink(token) {
      const caller = await authenticator.authenticateAgain({ authorization: `Bearer ${token}` });
      return sessions.newLink(tokenOf(caller), 'local');
    },
    async findAccess(secret) {
      const session = await sessions.find(secret);
      if (session === undefined || !(await isValid(authenticator, secret))) return undefined;
      return { key: sessions.keyOf(session, secret) };
    },
  };
}

/** Returns whether the token of a session is valid. */
async function isValid(authenticator: Authenticator, session: string): Promise<boolean> {
  try {
    await authenticator.authenticateAgain({ authorization: undefined, session });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}
