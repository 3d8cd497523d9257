import { writeFileSync } from 'node:fs';

export const ZONE = 'example.test';
export const NAMES = 50_000;
/** The /24 network of the users, without the last octet. */
export const USER_NETWORK = '127.0.2';

/** Returns a zone with `NAMES` names, each with one address. */
export const zoneText = (): string =>
  [
    '$TTL 300',
    '@ SOA ns1 hostmaster 1 3600 600 86400 300',
    '@ NS ns1',
    'ns1 A 192.0.2.1',
    ...Array.from({ length: NAMES }, (_, n) => `h${n} A 192.0.2.${n % 256}`),
  ].join('\n');

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T; // the lists are not empty
const random = (length: number) => Array.from({ length }, () => pick([...letters])).join('');
const WORDS =
  'mail shop login admin portal media cloud river stone green house light music paper train water north south east west blog news help docs data test stage live video photo store account secure update search home mobile office school bank travel hotel sport game book food health'.split(
    ' ',
  );
const mixCase = (name: string) => [...name].map((c) => (Math.random() < 0.5 ? c.toUpperCase() : c)).join('');

/** The floods: each function returns a query line for dnsperf, for a name that is not in the zone. */
export const floods: Readonly<Record<string, () => string>> = {
  'random names': () => `${random(10)}.${ZONE} A`,
  'dictionary words': () => `${pick(WORDS)}-${pick(WORDS)}${Math.floor(Math.random() * 100)}.${ZONE} A`,
  'siblings of real names': () =>
    `h${Math.floor(Math.random() * NAMES)}${pick([...'abcdefghij'])}${random(2)}.${ZONE} A`,
  'mixed case': () => `${mixCase(`${random(10)}.${ZONE}`)} A`,
  'mixed types': () => `${random(10)}.${ZONE} ${pick(['A', 'AAAA', 'TXT', 'MX', 'NS', 'SOA', 'CAA', 'SRV'])}`,
};

/** Floods of names in the zone: one name, or all names. */
export const knownFloods: Readonly<Record<string, () => string>> = {
  'one known name': () => `h7.${ZONE} A`,
  'known names': () => knownLine(),
};

export const knownLine = (): string => `h${Math.floor(Math.random() * NAMES)}.${ZONE} A`;

/** Writes `count` query lines for dnsperf. */
export function writeQueries(file: string, line: () => string, count: number): void {
  writeFileSync(file, `${Array.from({ length: count }, line).join('\n')}\n`);
}
