/** Lets the rules API list, create and revoke the API keys of the gateway. */
import {
  type ApiKey,
  hashOfSecret,
  type KeyStore,
  KeysUnavailableError,
  keySettingsView,
  keyView,
  limitsOfView,
  newKeyId,
  newSecret,
  TooManyKeys,
} from '../../ethereum/gateway/index.ts';
import type { LastUsedTracker } from '../../platform/lastUses/index.ts';
import type {
  CreatedKey,
  GatewayKeyChange,
  GatewayKeys,
  GatewayKeyView,
  KeyCreation,
} from '../../rules/api/index.ts';
import { TooManyEntries, timestampOfMillis } from '../../rules/index.ts';
import { type Counts, type ReadMetrics, sumByLabels } from '../health/metricSums.ts';

export interface GatewayKeysDependencies {
  readonly keys: KeyStore;
  readonly metrics: ReadMetrics;
  readonly lastUses: Pick<LastUsedTracker, 'all'>;
  /** Resolves when a changed API key is effective in all processes. */
  readonly settled: () => Promise<void>;
}

/** `methods`: methods that a key may be restricted to. `networks`: the networks, as in the schema `Gateway`. */
export function gatewayKeys(
  { methods, networks }: { readonly methods: readonly string[]; readonly networks: () => readonly object[] },
  { keys, metrics, lastUses, settled }: GatewayKeysDependencies,
): GatewayKeys {
  const shower = async (): Promise<(key: ApiKey) => GatewayKeyView> => {
    const used = await lastUses.all();
    const calls = await sumByLabels(await metrics(), 'floodgate_gateway_key_calls_total', ['key', 'outcome']);
    return (key) => view(key, used.get(key.id), calls);
  };
  return {
    methods,
    gateway: () => ({ networks: networks(), needs_key: needsKey(keys) }),
    changes: () => keys.list().flatMap(changesOf),
    async list() {
      return keys.list().map(await shower());
    },
    async create({ key: { rate_per_second, expires_on, limits, ...wanted }, seed, actor }: KeyCreation) {
      const secret = newSecret(seed);
      const hash = hashOfSecret(secret);
      const key: ApiKey = {
        id: newKeyId(),
        name: wanted.name,
        ...(rate_per_second !== undefined && { ratePerSecond: rate_per_second }),
        ...(wanted.methods && { methods: wanted.methods }),
        ...(limits && { limits: limitsOfView(limits) }),
        ...(expires_on !== undefined && { expiresOn: expires_on }),
        createdOn: new Date().toISOString(),
        createdBy: actor.by,
        createdFrom: actor.from,
      };
      try {
        await keys.add(hash, key);
      } catch (error) {
        if (error instanceof TooManyKeys) throw new TooManyEntries('list of API keys', error.max);
        throw error;
      }
      await settled();
      const stored = keys.find(hash) ?? key;
      if (settingsOf(stored) !== settingsOf(key)) return undefined;
      const show = await shower();
      return { key: show(stored), secret, isReplayed: stored.id !== key.id } satisfies CreatedKey;
    },
    async revoke(id, { by, from }) {
      const revocation = { revokedOn: new Date().toISOString(), revokedBy: by, revokedFrom: from };
      const revoked = await keys.revoke(id, revocation);
      await settled();
      return revoked && (await shower())(revoked);
    },
  };
}

function needsKey(keys: KeyStore): boolean {
  try {
    return !keys.isEmpty();
  } catch (error) {
    if (!(error instanceof KeysUnavailableError)) throw error;
    return true;
  }
}

/** Returns the settings of a key as text: equal for equal settings, because the members have a fixed order. */
const settingsOf = (key: ApiKey): string => JSON.stringify(keySettingsView(key));

function changesOf(key: ApiKey): readonly GatewayKeyChange[] {
  const settings = keySettingsView(key);
  const change = (at: string, by = '', from = 'local') => ({
    at: timestampOfMillis(Date.parse(at)),
    by,
    from,
    key: key.id,
  });
  return [
    { ...change(key.createdOn, key.createdBy, key.createdFrom), action: 'key.create', after: settings },
    ...(key.revokedOn === undefined
      ? []
      : [
          {
            ...change(key.revokedOn, key.revokedBy, key.revokedFrom),
            ...({ action: 'key.revoke', before: settings } as const),
          },
        ]),
  ];
}

function view(key: ApiKey, usedOn: string | undefined, calls: Counts): GatewayKeyView {
  const of = (outcome: string): number => calls[`${key.id} ${outcome}`] ?? 0;
  return {
    ...keyView(key),
    ...(usedOn !== undefined && { last_used_on: usedOn }),
    calls: { admitted: of('admitted'), limited: of('limited'), forbidden: of('forbidden') },
  };
}
