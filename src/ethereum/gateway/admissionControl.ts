import type { IncomingMessage } from 'node:http';
import { type ClientAddress, clientAddressBehind, clientKey } from '../../platform/addresses/index.ts';
import type { Readers } from '../../platform/http/index.ts';
import { RateLimitedError, RpcError } from '../jsonrpc/index.ts';
import { type Access, Authenticator } from './keys/authenticate.ts';
import type { KeyStore } from './keys/keyStore.ts';
import { RateLimits, type Rates } from './limits/rateLimits.ts';
import type { GatewayMetrics } from './metrics.ts';

export interface AdmissionOptions {
  readonly maxInFlight: number;
  readonly ratePerAddress: number;
  readonly trustedProxies: readonly string[];
}

export interface AdmissionDependencies {
  readonly readers: Readers;
  readonly keys: KeyStore;
  readonly metrics: GatewayMetrics;
  /** Left out: those of this process alone. */
  readonly rates?: Rates | undefined;
}

/** What a request that was admitted may do. */
export interface Permit {
  /** Throws RateLimitedError where these calls are too many, NotYetAdmitted where that is not known yet. */
  admit(calls: number): void;
  mayCall(method: string): boolean;
  /** Who asks: a key, or where there is none an address (for IPv6, one /64). */
  readonly client: () => string;
  /** The same apart: the address in any case, and the id of the key where there is one. */
  readonly address: () => string;
  readonly keyId: string | undefined;
  /** Must be called when the last byte of the answer is taken, or never will be. */
  release(): void;
}

/** Why a request is not admitted. */
export interface Refusal {
  readonly status: 401 | 429 | 503;
  readonly refusal: RpcError;
  readonly headers: readonly string[];
}

type OverRate = 'address_rate' | 'key_rate';

/** When too much runs at once, or waits to be read, the next second is soon enough to try again. */
const BUSY_RETRY_SECONDS = '1';

/** `key`, or `apikey` in any case, as clients of explorers send it. */
function keyIn(query: string): string | undefined {
  for (const [name, value] of new URLSearchParams(query))
    if (name === 'key' || name.toLowerCase() === 'apikey') return value;
  return undefined;
}

/** Decides, before a body is read, whether a request is admitted; and, before they are carried out, whether its calls do. */
export class AdmissionControl {
  readonly #options: AdmissionOptions;
  readonly #readers: Readers;
  readonly #metrics: GatewayMetrics;
  readonly #rates: Rates;
  readonly #authenticator: Authenticator;
  readonly #clientAddress: ClientAddress;
  #inFlight = 0;

  constructor(options: AdmissionOptions, { readers, keys, metrics, rates }: AdmissionDependencies) {
    this.#options = options;
    this.#readers = readers;
    this.#rates = rates ?? new RateLimits();
    this.#metrics = metrics;
    this.#authenticator = new Authenticator(keys);
    this.#clientAddress = clientAddressBehind(options.trustedProxies);
    metrics.watchInFlight(() => this.#inFlight);
  }

  enter(request: IncomingMessage, query: string): Permit | Refusal {
    const { maxInFlight, ratePerAddress } = this.#options;
    const [metrics, readers] = [this.#metrics, this.#readers];
    if (this.#inFlight >= maxInFlight) {
      metrics.limited('in_flight');
      // Those who do not read must not keep those out who do.
      readers.givePlace();
      const refusal = new RpcError('limitExceeded', 'too much runs at once; try again', {
        limit: maxInFlight,
      });
      return { status: 429, refusal, headers: ['retry-after', BUSY_RETRY_SECONDS] };
    }
    const access = this.#access(request, query);
    if (!access.isGranted && access.isUnknown) {
      metrics.limited('keys_unknown');
      const refusal = new RpcError('resourceUnavailable', access.reason);
      return { status: 503, refusal, headers: ['retry-after', BUSY_RETRY_SECONDS] };
    }
    if (!access.isGranted) {
      metrics.limited('unauthorized');
      const refusal = new RpcError('unauthorized', access.reason);
      return { status: 401, refusal, headers: ['www-authenticate', 'Bearer'] };
    }
    if (readers.refuses(request)) {
      metrics.limited('unsent_bytes');
      const limit = readers.maxBytesPerClient;
      const refusal = new RpcError(
        'limitExceeded',
        `more than ${limit} bytes of answers wait to be read by this address; read them first, or try again later`,
        { limit },
      );
      return { status: 429, refusal, headers: ['retry-after', BUSY_RETRY_SECONDS] };
    }
    const { key } = access;
    const callsOfKey = key && metrics.keyCalls.of(key.id);
    this.#inFlight++;
    const address = (): string => clientKey(this.#clientAddress(request));
    return {
      client: () => (key === undefined ? address() : `key ${key.id}`),
      address,
      keyId: key?.id,
      admit: (calls) => {
        const over = (limit: OverRate, perSecond: number, waitSeconds: number): RateLimitedError => {
          if (callsOfKey !== undefined) callsOfKey.limited.count += calls;
          return this.#overRate(limit, perSecond, waitSeconds);
        };
        if (ratePerAddress > 0) {
          const waitSeconds = this.#rates.take(`address_rate ${address()}`, ratePerAddress, calls);
          if (waitSeconds > 0) throw over('address_rate', ratePerAddress, waitSeconds);
        }
        if (key?.ratePerSecond !== undefined) {
          let waitSeconds: number;
          try {
            waitSeconds = this.#rates.take(`key_rate ${key.id}`, key.ratePerSecond, calls);
          } catch (error) {
            // Both are asked again.
            if (ratePerAddress > 0) this.#rates.giveBack?.(`address_rate ${address()}`, calls);
            throw error;
          }
          if (waitSeconds > 0) throw over('key_rate', key.ratePerSecond, waitSeconds);
        }
        if (callsOfKey !== undefined) callsOfKey.admitted.count += calls;
      },
      mayCall: (method) => {
        if (key?.methods === undefined || key.methods.includes(method)) return true;
        callsOfKey?.forbidden.inc();
        return false;
      },
      release: () => {
        this.#inFlight--;
      },
    };
  }

  /** Whether the key that came with a request is not, or no longer, good. */
  isDenied(request: IncomingMessage, query: string): boolean {
    return !this.#access(request, query).isGranted;
  }

  #access({ headers }: IncomingMessage, query: string): Access {
    const queryKey = query === '' ? undefined : keyIn(query);
    return this.#authenticator.access(headers.authorization, queryKey);
  }

  #overRate(limit: OverRate, ratePerSecond: number, waitSeconds: number): RateLimitedError {
    this.#metrics.limited(limit);
    const whose = limit === 'key_rate' ? 'this API key' : 'this address';
    return new RateLimitedError(
      `too many calls of ${whose}: at most ${ratePerSecond} per second`,
      waitSeconds,
      { limit: ratePerSecond },
    );
  }
}
