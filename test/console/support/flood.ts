import { setTimeout as pause } from 'node:timers/promises';
import { query, type Target, UdpClient } from '../../dns/support/dnsClient.ts';

const SLICE = 100;
const SLICE_MS = 40;

/** Labels that do harm if they are not treated as text. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '\\226\\128\\174gnp.exe',
  'a\\000b',
  'x'.repeat(63),
  '"\\><script>alert(1)</script>',
];

const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;

/** Returns a name of 255 octets, the maximum. */
function longest(label: string, zone: string): string {
  const rest = [...Array<string>(3).fill('y'.repeat(MAX_LABEL_BYTES)), zone].join('.');
  // Each label has a length octet, and the name ends with one for the root.
  return `${label.padStart(MAX_NAME_BYTES - rest.length - 3, '0')}.${rest}`;
}

/** Queries random names of a zone, some of them hostile, until it is stopped. Counts queries and answers. */
export class Flood {
  readonly #client: UdpClient;
  readonly #zone: string;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #target: Target;
  sent = 0;
  answered = 0;

  static async start(zone: string, target: Target): Promise<Flood> {
    const flood = new Flood(await new UdpClient().open(), zone, target);
    flood.#client.socket.on('message', () => flood.answered++);
    flood.#running = flood.#run();
    return flood;
  }

  private constructor(client: UdpClient, zone: string, target: Target) {
    this.#client = client;
    this.#zone = zone;
    this.#target = target;
  }

  set target(target: Target) {
    this.#target = target;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#client.close();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      for (let i = 0; i < SLICE; i++) this.#client.send(this.#query(), this.#target);
      // A legitimate query for a known name.
      this.#client.send(query(`www.${this.#zone}`, 1, 1), this.#target);
      await pause(SLICE_MS);
    }
  }

  #query(): Buffer {
    const number = this.sent++;
    const label =
      number % 5 === 0 ? HOSTILE[(number / 5) % HOSTILE.length] : `q${(number * 7919).toString(36)}`;
    const name = number % 50 === 0 ? longest(String(number), this.#zone) : `${label}.${this.#zone}`;
    return query(name, 1, 10_000 + (number % 50_000));
  }
}
