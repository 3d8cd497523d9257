import type { ApiToken, GatewayKey } from '../../api/access.ts';
import { countText } from '../traces/ether.ts';

const WEEK_MS = 7 * 86_400_000;

export const inForce = <T extends Pick<ApiToken | GatewayKey, 'status'>>(all: readonly T[]): readonly T[] =>
  all.filter(({ status }) => status === 'active');

interface Known {
  /** Whether who looks has the server's own token, from its configuration, which is in no list. */
  readonly hasServersToken: boolean;
  readonly tokens: readonly ApiToken[] | undefined;
  readonly keys: readonly GatewayKey[] | undefined;
}

/** `3 tokens are valid, 1 expires within a week. The gateway is open: no key was ever made.` */
export function sentenceOf({ hasServersToken, tokens, keys }: Known, nowMs: number): string {
  const parts = [
    ...(tokens ? [hasServersToken ? besideServers(tokens, nowMs) : validOf(tokens, 'token', nowMs)] : []),
    ...(keys
      ? [
          keys.length === 0
            ? 'The gateway is open: no key was ever made.'
            : validOf(keys, 'gateway key', nowMs),
        ]
      : []),
  ];
  return parts.join(' ') || 'Access';
}

const besideServers = (tokens: readonly ApiToken[], nowMs: number): string =>
  inForce(tokens).length === 0
    ? 'The server’s own token is the only one that is valid.'
    : validOf(tokens, 'token', nowMs);

function validOf(all: readonly (ApiToken | GatewayKey)[], noun: string, nowMs: number): string {
  const valid = inForce(all);
  const soon = valid.filter(
    ({ expires_on }) => expires_on !== undefined && Date.parse(expires_on) - nowMs < WEEK_MS,
  ).length;
  const first =
    valid.length === 0
      ? `No ${noun} is valid`
      : valid.length === 1
        ? `One ${noun} is valid`
        : `${countText(valid.length)} ${noun}s are valid`;
  return soon === 0 ? `${first}.` : `${first}, ${countText(soon)} of them for less than a week.`;
}

/** What a permission is for, for who chooses. */
export const PERMISSIONS: Readonly<Record<string, string>> = {
  'dns_protection:read': 'see rules, lists and attacks',
  'dns_protection:write': 'change rules and lists',
  'dns_protection:audit': 'see who changed what',
  'tokens:read': 'see tokens',
  'tokens:write': 'make and revoke tokens',
  'nodes:read': 'see nodes',
  'nodes:write': 'set nodes aside',
  'health:read': 'see how the server is',
  'keys:read': 'see gateway keys',
  'keys:write': 'make and revoke gateway keys',
};

/** Of the server and of no account. */
export const ofServer = (permission: string): boolean => /^(?:nodes|health|keys):/.test(permission);

export const STATUS = {
  active: { tone: 'well', word: '● valid' },
  expired: { tone: 'quiet', word: '○ expired' },
  revoked: { tone: 'quiet', word: '✕ revoked' },
} as const;

const DAY_MS = 86_400_000;

/** How long something is to live, for a choice. */
export const LIVES: readonly (readonly [days: string, word: string])[] = [
  ['1', 'a day'],
  ['7', 'a week'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
];

export const inDays = (days: string, nowMs: number): string =>
  new Date(nowMs + Number(days) * DAY_MS).toISOString();
