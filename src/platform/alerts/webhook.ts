import { createHash, createHmac } from 'node:crypto';
import type { Alert } from './alert.ts';

export interface Webhook {
  /** Name of the webhook in logs and metrics: `webhook-1`, with its number in the configuration. */
  readonly name: string;
  readonly url: URL;
  readonly form: 'json' | 'slack';
  /** Identifies the webhook in the stored queue. It is a hash of the URL, because the URL may contain a secret. */
  readonly key: string;
}

const SLACK = /^slack\+(?=https?:)/;
const KEY_CHARACTERS = 16;

/**
 * Parses a webhook URL: `https://example.com/hook`, or `slack+https://…` for Slack's format. Returns undefined for
 * other strings.
 */
export function webhookOf(text: string, name: string): Webhook | undefined {
  const bare = text.replace(SLACK, '');
  if (!URL.canParse(bare)) return undefined;
  const url = new URL(bare);
  if (!['http:', 'https:'].includes(url.protocol) || url.hash !== '' || !canBeDecoded(url)) return undefined;
  const key = createHash('sha256').update(text).digest('hex').slice(0, KEY_CHARACTERS);
  return { name, url, form: SLACK.test(text) ? 'slack' : 'json', key };
}

function canBeDecoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Returns the request body for an alert: the alert as JSON or, for Slack, an object with a text. */
export function bodyOf(alert: Alert, form: Webhook['form']): string {
  return JSON.stringify(form === 'slack' ? { text: slackText(alert), mrkdwn: false } : alert);
}

const slackText = ({ kind, state, subject, text }: Alert): string =>
  `${state === 'firing' ? '[FIRING]' : '[RESOLVED]'} ${escaped(`${kind.replaceAll('_', ' ')}: ${subject}`)}\n${escaped(text)}`;

/** Escapes a text for Slack, so that a label or zone name creates no link or mention (`<!channel>`, `@here`). */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200B');

/**
 * Returns the signature `t=SECONDS,v1=HEX`, with the HMAC-SHA-256 of `SECONDS.BODY`. Receivers detect replays by the
 * signed time.
 */
export function signatureOf(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
