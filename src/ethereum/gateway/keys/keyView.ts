import type { CallLimit, CallLimits } from '../callLimits.ts';
import { type ApiKey, isGood } from './keyStore.ts';

/** Limits of API keys with their member names in the rules API. */
const LIMITS = [
  ['traceFilterBlocks', 'trace_filter_blocks'],
  ['traceFilterCount', 'trace_filter_count'],
  ['logsBlocks', 'logs_blocks'],
  ['feeHistoryBlocks', 'fee_history_blocks'],
] as const satisfies readonly (readonly [CallLimit, string])[];

type LimitsView = { readonly [limit in (typeof LIMITS)[number][1]]?: number };

/** Settings of a key in the form of the rules API, which omits members that are not set. */
export interface KeySettingsView {
  readonly name: string;
  readonly rate_per_second?: number;
  readonly methods?: readonly string[];
  readonly limits?: LimitsView;
  readonly expires_on?: string;
}

/** A key in the form of the rules API. */
export interface KeyView extends KeySettingsView {
  readonly id: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly created_on: string;
  readonly created_by?: string;
  readonly created_from?: string;
  readonly revoked_on?: string;
  readonly revoked_by?: string;
  readonly revoked_from?: string;
}

export const keyView = (key: ApiKey): KeyView => ({
  id: key.id,
  status: key.revokedOn !== undefined ? 'revoked' : isGood(key) ? 'active' : 'expired',
  ...keySettingsView(key),
  created_on: key.createdOn,
  ...(key.createdBy !== undefined && { created_by: key.createdBy }),
  ...(key.createdFrom !== undefined && { created_from: key.createdFrom }),
  ...(key.revokedOn !== undefined && { revoked_on: key.revokedOn }),
  ...(key.revokedBy !== undefined && { revoked_by: key.revokedBy }),
  ...(key.revokedFrom !== undefined && { revoked_from: key.revokedFrom }),
});

export const keySettingsView = (key: ApiKey): KeySettingsView => ({
  name: key.name,
  ...(key.ratePerSecond !== undefined && { rate_per_second: key.ratePerSecond }),
  ...(key.methods && { methods: key.methods }),
  ...(key.limits && { limits: limitsView(key.limits) }),
  ...(key.expiresOn !== undefined && { expires_on: key.expiresOn }),
});

const limitsView = (limits: Partial<CallLimits>): LimitsView =>
  Object.fromEntries(
    LIMITS.flatMap(([limit, name]) => (limits[limit] === undefined ? [] : [[name, limits[limit]]])),
  );

export const limitsOfView = (limits: LimitsView): Partial<CallLimits> =>
  Object.fromEntries(
    LIMITS.flatMap(([limit, name]) => (limits[name] === undefined ? [] : [[limit, limits[name]]])),
  );
