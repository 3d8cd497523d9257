import {
  type Actor,
  futureCheck,
  InvalidRule,
  KeyReused,
  listCheck,
  type Micros,
  ObjectChecker,
  parseMoment,
  plainObject,
  wallClock,
} from '../../index.ts';
import { type NewGatewayKey, newGatewayKeySchema } from '../document/keySchemas.ts';
import { successEnvelope } from '../http/envelope.ts';
import { readPageRequest, slicePage } from '../http/paging.ts';
import { parseBody } from '../http/parseBody.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import { notFound } from './collectionHandlers.ts';
import { readRetryKey } from './retryKey.ts';
import type { SecretSeeds } from './secretSeeds.ts';

/** API key of the gateway in the form of the schema `GatewayKey`. */
export interface GatewayKeyView {
  readonly id: string;
  readonly [member: string]: unknown;
}

export interface KeyCreation {
  readonly key: NewGatewayKey;
  /** Random bytes from which the secret of the key is derived. */
  readonly seed: Buffer;
  readonly actor: Actor;
}

/** Creation or revocation of an API key, in the form of the schema `KeyChange`. */
export interface GatewayKeyChange extends Actor {
  /** In the format of `formatTimestamp`. */
  readonly at: string;
  readonly action: 'key.create' | 'key.revoke';
  /** Id of the key. */
  readonly key: string;
  readonly before?: { readonly name: string };
  readonly after?: { readonly name: string };
}

export interface GatewayKeys {
  /** Returns the description of the gateway in the form of the schema `Gateway`. */
  gateway(): object;
  readonly methods: readonly string[];
  /** Returns all API keys in order of creation. */
  list(): Promise<readonly GatewayKeyView[]>;
  /** Returns the creation of each key, and its revocation. */
  changes(): readonly GatewayKeyChange[];
  /**
   * Creates a key. If a key with the same secret exists, returns that key, or undefined if its settings differ.
   * Throws `TooManyEntries`.
   */
  create(creation: KeyCreation): Promise<CreatedKey | undefined>;
  /** Revokes an API key. Returns undefined if no key has this id. */
  revoke(id: string, actor: Actor): Promise<GatewayKeyView | undefined>;
}

export interface CreatedKey {
  readonly key: GatewayKeyView;
  readonly secret: string;
  readonly isReplayed: boolean;
}

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

export interface KeyHandlers {
  readonly gateway: Handler;
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly revoke: Handler;
}

const NO_STORE = { 'cache-control': 'no-store' };

export function keyHandlers(keys: GatewayKeys, seeds: SecretSeeds): KeyHandlers {
  const checker = new ObjectChecker<Micros>(newGatewayKeySchema, {
    methods: listCheck('methods', {
      of: `methods that the gateway serves, which are ${keys.methods.join(', ')}`,
      max: keys.methods.length,
      isItem: (item) => keys.methods.some((method) => method === item),
    }),
    expires_on: futureCheck('expires_on'),
  });
  const checked = (body: unknown): NewGatewayKey => {
    const members = plainObject(body);
    const faults = checker.faultsOf(members, wallClock());
    if (faults.length > 0) throw new InvalidRule(faults);
    const { name, methods, expires_on, ...rest } = members as unknown as NewGatewayKey; // just checked against its schema
    return {
      ...rest,
      name: name.trim(),
      ...(methods && { methods: [...new Set(methods)] }),
      ...(expires_on !== undefined && { expires_on: parseMoment(expires_on) ?? expires_on }),
    };
  };

  return {
    gateway: async () => ({ body: successEnvelope(keys.gateway()) }),

    async list({ query }) {
      const { page, per_page } = query;
      const { page: number, perPage } = readPageRequest({ page, per_page });
      const { result, resultInfo } = slicePage(await keys.list(), { page: number, perPage });
      return { body: successEnvelope(result, { resultInfo }) };
    },

    async create({ caller, actor, headers, body }) {
      const retryKey = readRetryKey(headers['idempotency-key']);
      const key = checked(parseBody(body));
      const created = await keys.create({ key, seed: seeds.of('key', caller.tokenId, retryKey), actor });
      if (created === undefined) throw new KeyReused();
      return {
        body: successEnvelope({ ...created.key, value: created.secret }),
        headers: { ...NO_STORE, ...(created.isReplayed && { 'idempotent-replayed': 'true' }) },
      };
    },

    async read({ keyId, path }) {
      const key = (await keys.list()).find(({ id }) => id === keyId);
      if (!key) throw notFound({ path });
      return { body: successEnvelope(key) };
    },

    async revoke({ keyId, actor, path }) {
      const key = await keys.revoke(keyId, actor);
      if (!key) throw notFound({ path });
      return { body: successEnvelope(key) };
    },
  };
}
