import { createHash, createHmac } from 'node:crypto';
import type { Alert } from './alert.ts';

export interface Webhook {
  /** Name in logs and metrics, with the number of the webhook in the configuration: `webhook-1`. */
  readonly name: string;
  readonly url: URL;
  readonly form: 'json' | 'slack';
  /** Identifies the webhook in the stored queue. A hash, because the URL may contain a secret. */
  readonly key: string;
}

const SLACK = /^slack\+(?=https?:)/;
const KEY_CHARACTERS = 16;

/** Parses `https://example.com/hook`, or `slack+https://…` for Slack's format. Returns undefined for other strings. */
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

/** Returns the alert as JSON, or a text for Slack. */
export function bodyOf(alert: Alert, form: Webhook['form']): string {
  return JSON.stringify(form === 'slack' ? { text: slackText(alert), mrkdwn: false } : alert);
}

const slackText = ({ kind, state, subject, text }: Alert): string =>
  `${state === 'firing' ? '[FIRING]' : '[RESOLVED]'} ${escaped(`${kind.replaceAll('_', ' ')}: ${subject}`)}\n${escaped(text)}`;

/** Prevents links and mentions (`<!channel>`, `@here`) in a label or zone name. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200B');

/** Returns `t=SECONDS,v1=HEX`, the HMAC-SHA-256 of `SECONDS.BODY`. Receivers detect replays by the signed time. */
export function signatureOf(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
