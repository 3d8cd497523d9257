/** Alert conditions for certificates and tokens that expire soon. */
import { X509Certificate } from 'node:crypto';
import type { Config } from '../../config/index.ts';
import type { Condition } from '../../platform/alerts/index.ts';
import { MAX_PEM_BYTES, readNamed } from '../../platform/regularFile/index.ts';
import type { Token } from '../../rules/index.ts';

export const EXPIRING_KEYS = 'expiring/';

const DAY_MS = 24 * 3_600_000;
/** Renewal tools replace certificates earlier. If only two weeks are left, an alert fires: the renewal is failing. */
const CERTIFICATE_MS = 14 * DAY_MS;
const TOKEN_MS = 7 * DAY_MS;
/** Certificates and tokens with a short lifetime are reported only in its last quarter. */
const SHARE_OF_LIFE = 0.25;
/** Maximum number of tokens reported at once. The tokens that expire first are reported. */
const MAX_TOKENS = 100;

interface Life {
  readonly fromMs: number;
  readonly untilMs: number;
}

const endsSoon = ({ fromMs, untilMs }: Life, withinMs: number, nowMs: number): boolean =>
  untilMs - nowMs <= Math.min(withinMs, (untilMs - fromMs) * SHARE_OF_LIFE);

const inWords = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

/** Returns alert conditions for tokens that expire soon. Omits expired tokens, because their users have noticed. */
export function expiringTokens(tokens: readonly Token[], nowMs: number): Condition[] {
  return tokens
    .flatMap((token) => {
      const { expires_on, revoked_on, created_on } = token;
      if (expires_on === null || revoked_on !== null) return [];
      const life = { fromMs: Date.parse(created_on), untilMs: Date.parse(expires_on) };
      return life.untilMs > nowMs && endsSoon(life, TOKEN_MS, nowMs) ? [{ token, ...life }] : [];
    })
    .sort((a, b) => a.untilMs - b.untilMs)
    .slice(0, MAX_TOKENS)
    .map(({ token: { id, label }, untilMs }) => ({
      key: `${EXPIRING_KEYS}token/${id}`,
      kind: 'token_expires',
      subject: label === '' ? id : `${label} (${id})`,
      text: `The token ${label === '' ? '' : `${label} `}with the id ${id} expires at ${inWords(untilMs)} UTC. \`floodgate token create\` creates a new one.`,
      details: { token: id, label, expires_on: new Date(untilMs).toISOString() },
    }));
}

/**
 * Returns alert conditions for the server's certificates that expire soon or have expired. Omits unreadable files,
 * which the log reports.
 */
export function expiringCertificates({ tls, ops }: Pick<Config, 'tls' | 'ops'>, nowMs: number): Condition[] {
  const files = { 'tls.cert': tls.cert, 'ops.tls.cert': ops.tls.cert };
  return Object.entries(files).flatMap(([option, file]): Condition[] => {
    const certificate = file === undefined ? undefined : readCertificate(file);
    if (certificate === undefined) return [];
    const life = { fromMs: Date.parse(certificate.validFrom), untilMs: Date.parse(certificate.validTo) };
    if (!endsSoon(life, CERTIFICATE_MS, nowMs)) return [];
    return [
      {
        key: `${EXPIRING_KEYS}certificate/${option}`,
        kind: 'certificate_expires',
        subject: option,
        text: `The certificate of ${option} ${life.untilMs > nowMs ? 'expires' : 'has expired'} at ${inWords(life.untilMs)} UTC. Replace the file; the server reloads it.`,
        details: { option, expires_on: new Date(life.untilMs).toISOString() },
      },
    ];
  });
}

function readCertificate(file: string): X509Certificate | undefined {
  try {
    return new X509Certificate(readNamed(file, MAX_PEM_BYTES));
  } catch {
    return undefined;
  }
}

export const expiryResolvedText = (key: string): string =>
  key.startsWith(`${EXPIRING_KEYS}token/`)
    ? 'The token has expired, or was revoked.'
    : 'The certificate was replaced, or is no longer served.';
