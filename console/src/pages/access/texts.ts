import type { ApiToken, GatewayKey } from '../../api/types.ts';
import { formatNumber } from '../../ui/value/quantity.tsx';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

export const activeOnly = <T extends Pick<ApiToken | GatewayKey, 'status'>>(
  all: readonly T[],
): readonly T[] => all.filter(({ status }) => status === 'active');

/** Returns whether a token or key expires within a week. */
export function expiresSoon(at: string | undefined, nowMs: number): boolean {
  const leftMs = Date.parse(at ?? '') - nowMs;
  return leftMs > 0 && leftMs < WEEK_MS;
}

interface Known {
  /** Whether the user is signed in with the token from the server's configuration, which is not among `tokens`. */
  readonly hasServersToken: boolean;
  readonly tokens: readonly ApiToken[] | undefined;
  readonly keys: readonly GatewayKey[] | undefined;
}

/** Returns a text such as `Valid tokens: 3, 1 of them for less than a week. The gateway is open: …`. */
export function accessHeadline({ hasServersToken, tokens, keys }: Known, nowMs: number): string {
  const ofTokens =
    tokens && `Valid tokens: ${validOf(tokens, nowMs, hasServersToken ? 'only the server’s own' : 'none')}.`;
  const ofKeys = keys && `Valid gateway keys: ${validOf(keys, nowMs, 'none')}.`;
  const open = keys?.length === 0 && 'The gateway is open: no key was ever created.';
  return [ofTokens, open || ofKeys].filter(Boolean).join(' ') || 'Access';
}

function validOf(all: readonly (ApiToken | GatewayKey)[], nowMs: number, none: string): string {
  const valid = activeOnly(all);
  const soon = valid.filter(({ expires_on }) => expiresSoon(expires_on, nowMs));
  const count = valid.length === 0 ? none : formatNumber(valid.length);
  return soon.length === 0 ? count : `${count}, ${formatNumber(soon.length)} of them for less than a week`;
}

export const PERMISSIONS: Readonly<Record<string, string>> = {
  'dns_protection:read': 'View rules, lists and attacks',
  'dns_protection:write': 'Change rules and lists',
  'dns_protection:audit': 'View the audit log',
  'tokens:read': 'View tokens',
  'tokens:write': 'Create and revoke tokens',
  'nodes:read': 'View nodes',
  'nodes:write': 'Drain and resume nodes',
  'health:read': 'View the health of the server',
  'keys:read': 'View gateway keys',
  'keys:write': 'Create and revoke gateway keys',
};

export const isServerPermission = (permission: string): boolean => /^(?:nodes|health|keys):/.test(permission);

export const STATUS = {
  active: { tone: 'well', word: '● valid' },
  expired: { tone: 'quiet', word: '○ expired' },
  revoked: { tone: 'quiet', word: '✕ revoked' },
} as const;

export const LIFETIMES: readonly (readonly [days: string, word: string])[] = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
];

export const expiryAfterDays = (days: string, nowMs: number): string =>
  new Date(nowMs + Number(days) * DAY_MS).toISOString();
