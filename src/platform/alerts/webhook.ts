import { createHash, createHmac } from 'node:crypto';
import type { Alert } from './alert.ts';

/** Where alerts are sent, and in which form. */
export interface Webhook {
  /** What logs and metrics call it: its place in the configuration, `webhook-1`. */
  readonly name: string;
  readonly url: URL;
  readonly form: 'json' | 'slack';
  /** Names it in the queue over a restart; says nothing of the URL, which may hold a secret. */
  readonly key: string;
}

const SLACK = /^slack\+(?=https?:)/;
const KEY_CHARACTERS = 16;

/** Reads `https://example.com/hook`, or `slack+https://…` for the form that Slack takes. Undefined for what is no such URL. */
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

/** What is sent: the alert itself, or a text for people. */
export function bodyOf(alert: Alert, form: Webhook['form']): string {
  return JSON.stringify(form === 'slack' ? { text: slackText(alert), mrkdwn: false } : alert);
}

const slackText = ({ kind, state, subject, text }: Alert): string =>
  `${state === 'firing' ? '[FIRING]' : '[RESOLVED]'} ${escaped(`${kind.replaceAll('_', ' ')}: ${subject}`)}\n${escaped(text)}`;

/** A link or a mention (`<!channel>`, `@here`) in a label or a zone's name is text. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200B');

/** `t=SECONDS,v1=HEX`: HMAC-SHA-256 of `SECONDS.BODY`. The moment is signed, so that an old message is known as one. */
export function signatureOf(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
