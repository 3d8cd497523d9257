/** Fields of an access log line. Secrets in `url` and `referer` are already replaced. */
export interface AccessEntry {
  /** Address of the client; empty for a Unix socket. */
  readonly client: string;
  readonly atMs: number;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly bytes: number;
  readonly durationMs: number;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
}

/** `combined`: the Combined Log Format of web servers. `json`: one object per line. */
export type AccessLogFormat = 'combined' | 'json';

/** Longer URLs are truncated in the access log. */
const MAX_URL_CHARACTERS = 2048;
const MAX_AGENT_CHARACTERS = 256;

/** Functions that format an entry of the access log as a line of visible ASCII characters. */
export const FORMATS: Readonly<Record<AccessLogFormat, (entry: AccessEntry) => string>> = { combined, json };

function combined(entry: AccessEntry): string {
  const { client, atMs, method, httpVersion, status, bytes } = entry;
  const request = `${method} ${cut(entry.url, MAX_URL_CHARACTERS)} HTTP/${httpVersion}`;
  return (
    `${client === '' ? '-' : escaped(client)} - - [${dateOf(atMs)}] "${escaped(request)}" ${status} ${bytes === 0 ? '-' : bytes} ` +
    `"${escaped(entry.referer ?? '-')}" "${escaped(cut(entry.userAgent ?? '-', MAX_AGENT_CHARACTERS))}"\n`
  );
}

function json(entry: AccessEntry): string {
  const { client, atMs, method, httpVersion, status, bytes, durationMs, referer, userAgent } = entry;
  const line = JSON.stringify({
    time: new Date(atMs).toISOString(),
    client: client === '' ? null : client,
    method,
    url: cut(entry.url, MAX_URL_CHARACTERS),
    protocol: `HTTP/${httpVersion}`,
    status,
    bytes,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    ...(referer !== undefined && { referer }),
    ...(userAgent !== undefined && { userAgent: cut(userAgent, MAX_AGENT_CHARACTERS) }),
  });
  return `${line.replace(BEYOND_ASCII, unicodeEscape)}\n`;
}

const cut = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${text.slice(0, maxCharacters)}...` : text;

/** Escapes a string like Apache, so that a client cannot end the line or the quoted field, or control a terminal. */
const escaped = (text: string): string =>
  text.replace(NOT_PLAIN, (character) =>
    character === '"' || character === '\\' ? `\\${character}` : hex(character),
  );

const NOT_PLAIN = /[^\x20-\x7e]|["\\]/g;
/** Characters outside visible ASCII that JSON.stringify leaves unescaped. */
const BEYOND_ASCII = /[^\x20-\x7e]/g;

const hex = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(character);
};
const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a date like `22/Nov/2026:14:05:39 +0000`. */
function dateOf(atMs: number): string {
  const date = new Date(atMs);
  const [day, time] = [date.getUTCDate(), date.toISOString().slice(11, 19)];
  return `${String(day).padStart(2, '0')}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}:${time} +0000`;
}
