/** Parses client addresses as reported by sockets, without allocating memory. */

const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const DOT = 0x2e;
const PERCENT = 0x25;
const GROUPS = 8;
/** 16-bit group before the IPv4 address in an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`). */
const MAPPED = 0xffff;

/** An IP address as four 32-bit words, most significant first. An IPv4 address uses only the first word. */
export class ClientAddress {
  /** Whether the last parsed string is a valid address. False before the first {@link read}. */
  isKnown = false;
  isIpv6 = false;
  readonly words = new Int32Array(4);
  readonly #groups = new Uint16Array(GROUPS);

  /** Parses an address as `net` or `dgram` reports it: IPv4, IPv4-mapped IPv6, or IPv6 with an optional `%` zone. */
  read(text: string): void {
    const { words } = this;
    words[1] = 0;
    words[2] = 0;
    words[3] = 0;
    this.isIpv6 = false;
    this.isKnown = this.#readIpv4(text, 0);
    if (this.isKnown || !text.includes(':')) return;
    this.isIpv6 = true;
    this.isKnown = this.#readIpv6(text);
  }

  /** Parses an IPv4 address from index `start` to the end. Returns false if it has characters other than `0-9.`. */
  #readIpv4(text: string, start: number): boolean {
    let word = 0;
    let octet = 0;
    let dots = 0;
    for (let at = start; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === DOT) {
        word = (word << 8) | octet;
        octet = 0;
        dots++;
      } else if (character >= ZERO && character <= NINE) octet = octet * 10 + character - ZERO;
      else return false;
    }
    this.words[0] = (word << 8) | octet;
    return dots === 3 && octet <= 0xff;
  }

  #readIpv6(text: string): boolean {
    const groups = this.#groups.fill(0);
    let count = 0;
    let gapAt = -1;
    let value = -1;
    let start = 0;
    for (let at = 0; at <= text.length; at++) {
      const character = at < text.length ? text.charCodeAt(at) : PERCENT;
      if (character === COLON || character === PERCENT) {
        if (value >= 0) {
          if (count === GROUPS) return false;
          groups[count++] = value;
        } else if (character === COLON && at > 0 && text.charCodeAt(at - 1) === COLON) gapAt = count;
        value = -1;
        start = at + 1;
        if (character === PERCENT) break;
      } else if (character === DOT) {
        // After `::ffff:`, a dotted address is the address of an IPv4 client. After another prefix, it stands for the
        // last two groups of an IPv6 address.
        if (!this.#readIpv4(text, start)) return false;
        return this.#carried(count, gapAt);
      } else {
        const digit = Number.parseInt(text[at] ?? '', 16);
        if (Number.isNaN(digit)) return false;
        value = (value < 0 ? 0 : value << 4) | digit;
      }
    }
    this.#spread(count, gapAt);
    return true;
  }

  #carried(count: number, gapAt: number): boolean {
    const ipv4 = this.words[0] ?? 0;
    if (count === 1 && gapAt === 0 && this.#groups[0] === MAPPED) {
      this.isIpv6 = false;
      return true;
    }
    if (count > GROUPS - 2) return false;
    this.#groups[count] = ipv4 >>> 16;
    this.#groups[count + 1] = ipv4 & 0xffff;
    this.#spread(count + 2, gapAt);
    return true;
  }

  /** Writes the groups of an IPv6 address to `words`. Expands `::` by moving the groups after it to the end. */
  #spread(count: number, gapAt: number): void {
    const groups = this.#groups;
    const missing = GROUPS - count;
    if (gapAt >= 0 && missing > 0) {
      groups.copyWithin(gapAt + missing, gapAt, count);
      groups.fill(0, gapAt, gapAt + missing);
    }
    for (let word = 0; word < 4; word++)
      this.words[word] = ((groups[2 * word] ?? 0) << 16) | (groups[2 * word + 1] ?? 0);
  }
}
