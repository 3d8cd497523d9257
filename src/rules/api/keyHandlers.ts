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
} from '../index.ts';
import { successEnvelope } from './envelope.ts';
import { type NewGatewayKey, newGatewayKeySchema } from './keySchemas.ts';
import { readPageRequest, slicePage } from './paging.ts';
import { parseBody } from './parseBody.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';
import { readRetryKey } from './retryKey.ts';
import { notFound } from './ruleHandlers.ts';
import type { SecretSeeds } from './secretSeeds.ts';

/** A key in the form of the schema `GatewayKey`. */
export interface ShownKey {
  readonly id: string;
  readonly [member: string]: unknown;
}

export interface KeyCreation {
  readonly key: NewGatewayKey;
  /** Random bytes to make the secret of. */
  readonly seed: Buffer;
  readonly actor: Actor;
}

/** The keys of the gateway beside this API. */
export interface GatewayKeys {
  /** In the form of the schema `Gateway`. */
  gateway(): object;
  /** What a key may be narrowed to. */
  readonly methods: readonly string[];
  /** In the order of their creation. */
  list(): Promise<readonly ShownKey[]>;
  /** Where there is a key with this secret already, it is answered, if it is as it is wanted now: undefined where not. Throws `TooManyEntries`. */
  create(creation: KeyCreation): Promise<CreatedKey | undefined>;
  /** Undefined where there is none with that id. */
  revoke(id: string, actor: Actor): Promise<ShownKey | undefined>;
}

export interface CreatedKey {
  readonly key: ShownKey;
  readonly secret: string;
  /** It was there before. */
  readonly isReplayed: boolean;
}

type Handler = (request: ApiRequest) => Promise<ApiAnswer>;

export interface KeyHandlers {
  readonly gateway: Handler;
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly revoke: Handler;
}

/** An answer with a secret is nobody's to keep. */
const NO_STORE = { 'cache-control': 'no-store' };

/** What each operation on keys of the gateway does, between an authenticated request and its envelope. */
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
