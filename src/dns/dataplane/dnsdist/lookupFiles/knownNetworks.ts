/**
 * Networks of clients that have queried known names for an hour. dnsdist answers them TC=1 above the limit of a zone.
 * It needs the addresses, but `KnownClients` stores only hashes.
 */
import type { AttackDetector } from '../../../detector/index.ts';
import { networkHash } from '../../../protocol/index.ts';
import type { CdbEntry } from './cdb.ts';
import { CdbFile } from './cdbFile.ts';

/** Bytes of an address, in the order of the network. */
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
/** Lengths of the prefixes of client networks, as `networkHash` counts clients. */
export const NETWORK_BITS = { ipv4: 24, ipv6: 56 };
/** Maximum number of networks, as `KnownClients` stores. */
const MAX_NETWORKS = 65_536;
/** dnsdist looks only at the key. */
const VALUE = Buffer.from('1');

export class KnownNetworks {
  readonly #detector: AttackDetector;
  readonly #file: CdbFile;
  /** Network addresses, with one character per octet. */
  readonly #networks = new Set<string>();
  #changed = true;

  constructor(detector: AttackDetector, file: string) {
    this.#detector = detector;
    this.#file = new CdbFile(file);
  }

  /** Adds the network of a client if the detector knows it. `address`: octets of the client's address. */
  note(address: Uint8Array, nowMs: number): void {
    const network = networkOf(address);
    if (this.#networks.has(network) || this.#networks.size >= MAX_NETWORKS) return;
    if (!this.#isKnown(address, nowMs)) return;
    this.#networks.add(network);
    this.#changed = true;
  }

  /** Loads the file of an earlier run. Networks that the detector does not know are skipped. */
  async load(nowMs: number): Promise<void> {
    for (const [key] of await this.#file.read())
      if (key.length === IPV4_BYTES || key.length === IPV6_BYTES) this.note(key, nowMs);
  }

  forget(nowMs: number): void {
    for (const network of this.#networks)
      if (!this.#isKnown(Buffer.from(network, 'latin1'), nowMs)) {
        this.#networks.delete(network);
        this.#changed = true;
      }
  }

  /** Writes the file if networks have changed. Without networks, the file is empty. */
  async publish(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    try {
      await this.#file.write(this.#entries());
    } catch (error) {
      this.#changed = true;
      throw error;
    }
  }

  #isKnown(address: Uint8Array, nowMs: number): boolean {
    return this.#detector.clients.isKnown(networkHash(addressText(address)), nowMs);
  }

  *#entries(): Generator<CdbEntry> {
    for (const network of this.#networks) yield [Buffer.from(network, 'latin1'), VALUE];
  }
}

/** Returns the network of an address: the octets after its prefix are 0. */
function networkOf(address: Uint8Array): string {
  const bytes = Buffer.from(address);
  const bits = bytes.length === IPV4_BYTES ? NETWORK_BITS.ipv4 : NETWORK_BITS.ipv6;
  return bytes.fill(0, bits / 8).toString('latin1');
}

/** Returns an address in the form in which `networkHash` reads it. */
export const addressText = (bytes: Uint8Array): string =>
  bytes.length === IPV4_BYTES
    ? bytes.join('.')
    : Buffer.from(bytes)
        .toString('hex')
        .replace(/(.{4})(?=.)/g, '$1:');
