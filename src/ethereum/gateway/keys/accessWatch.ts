import { LinkedList } from '../../../platform/linkedList/index.ts';
import { RpcError } from '../../jsonrpc/index.ts';
import { type Access, Authenticator, type Credential } from './authenticate.ts';
import type { ApiKey, KeyStore } from './keyStore.ts';

/** Interval in milliseconds of API key checks. With the time until a worker knows a change, it stays below a second. */
const CHECK_MS = 250;

interface Watched {
  readonly credential: Credential;
  /** Called with the present access of the credential, and may end what is watched. */
  readonly check: (access: Access) => void;
}

/** Checks the API keys of everything that lasts: requests in flight, WebSockets, subscriptions and filters. */
export class AccessWatch {
  readonly #authenticator: Authenticator;
  readonly #watched = new LinkedList<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(keys: KeyStore) {
    this.#authenticator = new Authenticator(keys);
  }

  /** Calls `check` again and again. Returns a function that stops it. */
  add(credential: Credential, check: (access: Access) => void): () => void {
    const entry = this.#watched.append({ credential, check });
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_MS).unref();
    return () => void this.#watched.remove(entry);
  }

  /**
   * Calls `ended` when a credential no longer permits a method, or no longer permits anything. Returns a function that
   * stops the watch.
   */
  watch(credential: Credential, method: string | undefined, ended: (error: RpcError) => void): () => void {
    return this.add(credential, (access) => {
      if (!access.isGranted) ended(deniedError(access));
      else if (method !== undefined && !allows(access.key, method))
        ended(new RpcError('unauthorized', `the API key no longer allows ${method}`));
    });
  }

  /** Looks up each key once. The timer stops here, so that short requests do not start it again and again. */
  #checkAll(): void {
    if (this.#watched.isEmpty) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const known = new Map<Credential, Access>();
    for (const { credential, check } of this.#watched.values()) {
      const access = known.get(credential) ?? this.#authenticator.accessBy(credential);
      known.set(credential, access);
      check(access);
    }
  }
}

export type Denied = Extract<Access, { readonly isGranted: false }>;

export const deniedError = ({ isUnknown, reason }: Denied): RpcError =>
  new RpcError(isUnknown ? 'resourceUnavailable' : 'unauthorized', reason);

export const allows = (key: Pick<ApiKey, 'methods'> | undefined, method: string): boolean =>
  key?.methods === undefined || key.methods.includes(method);
