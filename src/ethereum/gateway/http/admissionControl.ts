import type { IncomingMessage } from 'node:http';
import { type ClientAddress, clientAddressReader, clientKey } from '../../../platform/addresses/index.ts';
import { Budget, type BudgetClient } from '../../../platform/budgets/index.ts';
import { type Readers, retryAfter } from '../../../platform/http/index.ts';
import { RateLimitedError, RpcError } from '../../jsonrpc/index.ts';
import type { CallLimits } from '../callLimits.ts';
import { AccessWatch, allows, type Denied, deniedError } from '../keys/accessWatch.ts';
import { type Access, Authenticator, type Credential, credentialOf } from '../keys/authenticate.ts';
import type { KeyStore } from '../keys/keyStore.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { RateLimits, type Rates } from './limits/rateLimits.ts';

export interface AdmissionOptions {
  readonly maxInFlight: number;
  readonly ratePerAddress: number;
  /** Number of gateways among which the rates of addresses and keys are divided. Default: 1. */
  readonly instances?: number;
  readonly trustedProxies: readonly string[];
  /** Limits of calls without an API key, and of calls whose key has no limits. */
  readonly limits: CallLimits;
}

export interface AdmissionDependencies {
  readonly readers: Readers;
  readonly keys: KeyStore;
  readonly metrics: GatewayMetrics;
  /** Rate limits that all processes share. Default: rate limits of this process only. */
  readonly rates?: Rates | undefined;
}

export interface Permit {
  /** Takes calls from the rate limits. Throws RateLimitedError, or NotYetAdmitted if the decision is pending. */
  admit(calls: number): void;
  isMethodAllowed(method: string): boolean;
  /**
   * Returns the error of further calls, if the API key was revoked or has expired while the request was in flight. Not
   * a getter: V8 makes a hidden class for each object literal with one, and hidden classes survive until a full garbage
   * collection, with all that the getter refers to.
   */
  ended(): RpcError | undefined;
  readonly credential: Credential;
  /** As `AccessWatch.watch`, for the credential of the request. */
  watch(method: string | undefined, ended: (error: RpcError) => void): () => void;
  /** Returns the address of the client (for IPv6, its /64 network), even if it sent an API key. */
  readonly address: () => string;
  readonly keyId: string | undefined;
  readonly limits: CallLimits;
  /**
   * Acquires slots of `gateway.maxInFlight` for a request with a body of this size. Returns an error response
   * (`Refusal`) if they are not free. `isLate`: time has passed since the request was admitted, so its API key is
   * checked again.
   */
  start(bodyBytes?: number, isLate?: boolean): Refusal | undefined;
  /**
   * Releases the slots. Called when the work has ended, even if the client disconnected before, and after the last byte
   * of the response was sent.
   */
  release(): void;
}

export interface Refusal {
  readonly status: 401 | 429 | 503;
  readonly refusal: RpcError;
  readonly headers: readonly string[];
}

type OverRate = 'address_rate' | 'key_rate';

/** Bytes of a body for which a request occupies one more slot, so that slots bound the memory of bodies. */
const SLOT_BYTES = 64 * 1024;
/** One client may occupy as many slots as it leaves free: a single client half of all, the next one a quarter. */
const PART_OF_FREE = 1;
/** Slots that a client may always occupy while any are free; also the maximum of one request. */
const MIN_SHARE = 32;

/** Value of the Retry-After header if there are too many concurrent requests or unread responses. */
const BUSY_RETRY_AFTER = retryAfter(1);

/** Parts of a URL that may contain an API key. */
export interface UrlKeys {
  readonly query: string;
  /** API key in the path. */
  readonly key: string | undefined;
}

/** Returns the API keys in the query string: `key`, or `apikey` in any case, which clients of block explorers send. */
function queryKeysIn(query: string): readonly string[] {
  if (query === '') return NO_KEYS;
  const named = [...new URLSearchParams(query)];
  return named.filter(([name]) => name === 'key' || name.toLowerCase() === 'apikey').map(([, key]) => key);
}
const NO_KEYS: readonly string[] = [];

/** Admits or rejects a request before its body is read, and the calls in the body before their execution. */
export class AdmissionControl {
  readonly #options: AdmissionOptions;
  readonly #readers: Readers;
  readonly #metrics: GatewayMetrics;
  readonly #rates: Rates;
  readonly #authenticator: Authenticator;
  /** Watches the API keys of everything that was admitted with them. */
  readonly accessWatch: AccessWatch;
  readonly #clientAddress: ClientAddress;
  readonly #inFlight: Budget;

  constructor(options: AdmissionOptions, { readers, keys, metrics, rates }: AdmissionDependencies) {
    this.#options = options;
    this.#readers = readers;
    this.#rates = rates ?? new RateLimits();
    this.#metrics = metrics;
    this.#authenticator = new Authenticator(keys);
    this.accessWatch = new AccessWatch(keys);
    this.#clientAddress = clientAddressReader(options.trustedProxies);
    const { maxInFlight: total } = options;
    this.#inFlight = new Budget({ total, perClient: total, partOfFree: PART_OF_FREE, minShare: MIN_SHARE });
    metrics.watchInFlight(() => this.#inFlight.total);
  }

  enter(request: IncomingMessage, url: UrlKeys, bodyBytes = 0): Permit | Refusal {
    const permit = this.admit(request, url);
    return 'refusal' in permit ? permit : (permit.start(bodyBytes) ?? permit);
  }

  /** Admits a request whose body may still be incomplete. The slot is acquired later, with `start`. */
  admit(request: IncomingMessage, url: UrlKeys): Permit | Refusal {
    const { limits, instances = 1 } = this.#options;
    const shareOf = (rate: number): number => Math.max(1, Math.floor(rate / instances));
    const ratePerAddress = this.#options.ratePerAddress === 0 ? 0 : shareOf(this.#options.ratePerAddress);
    const [metrics, readers] = [this.#metrics, this.#readers];
    const credential = this.#authenticator.isOpen() ? undefined : this.credentialOf(request, url);
    const access = this.accessBy(credential);
    if (!access.isGranted) return this.#denied(access);
    if (readers.exceeded(request) === 'perClient') {
      metrics.limited('unsent_bytes');
      const limit = Math.floor(readers.budget.share);
      const refusal = new RpcError(
        'limitExceeded',
        `unread responses of this address may use at most ${limit} bytes; read them first, or try again later`,
        { limit },
      );
      return { status: 429, refusal, headers: ['retry-after', BUSY_RETRY_AFTER] };
    }
    let { key } = access;
    let ended: RpcError | undefined;
    let unwatch: (() => void) | undefined;
    let isReleased = false;
    const client = { address: readers.clientOf(request).address, keyId: key?.id };
    let slots = 0;
    const check = (now: Access): void => {
      if (now.isGranted) key = now.key;
      else ended = deniedError(now);
    };
    const callsOfKey = key && metrics.keyCalls.of(key.id);
    const address = (): string => clientKey(this.#clientAddress(request));
    return {
      address,
      keyId: key?.id,
      limits: key?.limits === undefined ? limits : { ...limits, ...key.limits },
      admit: (calls) => {
        const over = (limit: OverRate, perSecond: number, waitSeconds: number): RateLimitedError => {
          if (callsOfKey !== undefined) callsOfKey.limited.inc(calls);
          return this.#overRate(limit, perSecond, waitSeconds);
        };
        if (ratePerAddress > 0) {
          const waitSeconds = this.#rates.take(`address_rate ${address()}`, ratePerAddress, calls);
          if (waitSeconds > 0) throw over('address_rate', ratePerAddress, waitSeconds);
        }
        if (key?.ratePerSecond !== undefined) {
          const keyRate = shareOf(key.ratePerSecond);
          let waitSeconds: number;
          try {
            waitSeconds = this.#rates.take(`key_rate ${key.id}`, keyRate, calls);
          } catch (error) {
            // The calls are returned to the address limit, because the caller will take from both limits again.
            if (ratePerAddress > 0) this.#rates.refund?.(`address_rate ${address()}`, calls);
            throw error;
          }
          if (waitSeconds > 0) throw over('key_rate', keyRate, waitSeconds);
        }
        if (callsOfKey !== undefined) callsOfKey.admitted.inc(calls);
        // Only a batch starts calls later. To watch every request would cost as much as a result from memory.
        if (calls > 1 && !isReleased) unwatch ??= this.accessWatch.add(credential, check);
      },
      isMethodAllowed: (method) => {
        if (allows(key, method)) return true;
        callsOfKey?.forbidden.inc();
        return false;
      },
      ended: () => ended,
      watch: (method, then) => this.accessWatch.watch(credential, method, then),
      credential,
      start: (bodyBytes = 0, isLate = false) => {
        const now = isLate ? this.accessBy(credential) : access;
        if (!now.isGranted) return this.#denied(now);
        check(now);
        const wanted = Math.min(1 + Math.floor(bodyBytes / SLOT_BYTES), MIN_SHARE, this.#options.maxInFlight);
        const refusal = this.#takeSlots(client, wanted);
        if (refusal === undefined) slots = wanted;
        return refusal;
      },
      release: () => {
        this.#inFlight.release(client, slots);
        isReleased = true;
        unwatch?.();
      },
    };
  }

  #takeSlots(client: BudgetClient, slots: number): Refusal | undefined {
    const excess = this.#inFlight.excessOf(client, slots);
    if (excess === undefined) {
      this.#inFlight.charge(client, slots);
      return undefined;
    }
    this.#metrics.limited('in_flight');
    const isTotal = excess.of === 'all';
    // Frees a slot: closes the connection of a client that reads slowly, so that this client does not block others.
    if (isTotal) this.#readers.freeConnection();
    const limit = Math.floor(excess.limit);
    const whose = isTotal ? '' : ` of this ${excess.of === 'key' ? 'API key' : 'address'}`;
    const refusal = new RpcError('limitExceeded', `too many requests${whose} in flight; try again`, {
      limit,
    });
    return { status: 429, refusal, headers: ['retry-after', BUSY_RETRY_AFTER] };
  }

  /** Returns the id of the API key that a request may use. */
  keyIdOf(request: IncomingMessage, url: UrlKeys): string | undefined {
    const access = this.accessBy(this.credentialOf(request, url));
    return access.isGranted ? access.key?.id : undefined;
  }

  /** Returns the credential of a request. The caller keeps it to check the access rights again later. */
  credentialOf({ headers }: IncomingMessage, { query, key }: UrlKeys): Credential {
    const { authorization, 'x-api-key': apiKeyHeader } = headers;
    return credentialOf({
      authorization,
      apiKeyHeader: apiKeyHeader?.toString(),
      ofQuery: queryKeysIn(query),
      ofPath: key,
    });
  }

  accessBy(credential: Credential): Access {
    return this.#authenticator.accessBy(credential);
  }

  #denied(access: Denied): Refusal {
    this.#metrics.limited(access.isUnknown ? 'keys_unknown' : 'unauthorized');
    const refusal = deniedError(access);
    return access.isUnknown
      ? { status: 503, refusal, headers: ['retry-after', BUSY_RETRY_AFTER] }
      : { status: 401, refusal, headers: ['www-authenticate', 'Bearer'] };
  }

  #overRate(limit: OverRate, ratePerSecond: number, waitSeconds: number): RateLimitedError {
    this.#metrics.limited(limit);
    const whose = limit === 'key_rate' ? 'this API key' : 'this address';
    return new RateLimitedError(
      `too many calls from ${whose}: at most ${ratePerSecond} per second`,
      waitSeconds,
      { limit: ratePerSecond },
    );
  }
}
