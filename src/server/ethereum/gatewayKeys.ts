/** Lets the rules API list, create and revoke the API keys of the gateway. */
import {
  type ApiKey,
  type CallLimit,
  type CallLimits,
  hashOfSecret,
  isGood,
  type KeyStore,
  KeysUnavailableError,
  newKeyId,
  newSecret,
  TooManyKeys,
} from '../../ethereum/gateway/index.ts';
import type { LastUsedTracker } from '../../platform/lastUses/index.ts';
import type {
  CreatedKey,
  GatewayKeyChange,
  GatewayKeyLimits,
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
        ...(limits && { limits: limitsOf(limits) }),
        ...(expires_on !== undefined && { expiresOn: expires_on }),
        createdOn: new Date().toISOString(),
        ...{ createdBy: actor.by, createdFrom: actor.from },
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

const settingsOf = ({ name, ratePerSecond, methods, limits, expiresOn }: ApiKey): string =>
  JSON.stringify([name, ratePerSecond, methods, limits && LIMITS.map(([limit]) => limits[limit]), expiresOn]);

/** Limits of API keys with their member names in the API. */
const LIMITS = [
  ['traceFilterBlocks', 'trace_filter_blocks'],
  ['traceFilterCount', 'trace_filter_count'],
  ['logsBlocks', 'logs_blocks'],
  ['feeHistoryBlocks', 'fee_history_blocks'],
] as const satisfies readonly (readonly [CallLimit, keyof GatewayKeyLimits])[];

const limitsOf = (sent: GatewayKeyLimits): Partial<CallLimits> =>
  Object.fromEntries(
    LIMITS.flatMap(([limit, name]) => (sent[name] === undefined ? [] : [[limit, sent[name]]])),
  );

const limitsView = (limits: Partial<CallLimits>): GatewayKeyLimits =>
  Object.fromEntries(
    LIMITS.flatMap(([limit, name]) => (limits[limit] === undefined ? [] : [[name, limits[limit]]])),
  );

const settingsView = ({ name, ratePerSecond, methods, limits, expiresOn }: ApiKey): object => ({
  name,
  ...(ratePerSecond !== undefined && { rate_per_second: ratePerSecond }),
  ...(methods && { methods }),
  ...(limits && { limits: limitsView(limits) }),
  ...(expiresOn !== undefined && { expires_on: expiresOn }),
});

function changesOf(key: ApiKey): readonly GatewayKeyChange[] {
  const settings = settingsView(key);
  const change = (at: string, by = '', from = 'local') => ({
    ...{ at: timestampOfMillis(Date.parse(at)), by, from, key: key.id },
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
    id: key.id,
    status: key.revokedOn !== undefined ? 'revoked' : isGood(key) ? 'active' : 'expired',
    ...settingsView(key),
    created_on: key.createdOn,
    ...(key.createdBy !== undefined && { created_by: key.createdBy }),
    ...(key.createdFrom !== undefined && { created_from: key.createdFrom }),
    ...(key.revokedOn !== undefined && { revoked_on: key.revokedOn }),
    ...(key.revokedBy !== undefined && { revoked_by: key.revokedBy }),
    ...(key.revokedFrom !== undefined && { revoked_from: key.revokedFrom }),
    ...(usedOn !== undefined && { last_used_on: usedOn }),
    calls: { admitted: of('admitted'), limited: of('limited'), forbidden: of('forbidden') },
  };
}
