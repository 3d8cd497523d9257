/** Random shapes of DNS queries, valid and malformed, as resolvers, tools and scanners send them. */
import { HEADER_BYTES, nameToWire, QueryType } from '../../../src/dns/protocol/index.ts';
import type { Random } from '../../support/random.ts';
import { uint16 } from './edns.ts';
import { ZONE_NAME } from './guardInFront.ts';

const CLASSES = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const;
const TYPES = [
  QueryType.A,
  QueryType.AAAA,
  QueryType.MX,
  QueryType.TXT,
  QueryType.SOA,
  QueryType.NS,
  QueryType.NSEC,
  // DS, DNSKEY, NSEC3, NSEC3PARAM, CAA, SVCB, HTTPS, OPT, TKEY, TSIG, ANY, reserved.
  43,
  48,
  50,
  51,
  257,
  64,
  65,
  41,
  249,
  250,
  255,
  0,
  65_535,
];
const NAMES = [
  '',
  'www.',
  'WwW.',
  'mail.',
  'alias.',
  'big.',
  'h7.',
  'none.',
  'x.y.z.',
  'a.users.',
  'under.here.',
  'any.sub.',
  'ns1.sub.',
  '_acme-challenge.',
  '_25._tcp.',
  '*.',
  '*.users.',
].map((prefix) => `${prefix}${ZONE_NAME}`);
const OTHER_NAMES = [
  '.',
  'test',
  'elsewhere.test',
  'version.bind',
  'id.server',
  'hostname.bind',
  '1.0.0.127.in-addr.arpa',
];
const OPT = 41;
/** NSID, ECS, EXPIRE, COOKIE, KEEPALIVE, PADDING, CHAIN, KEY-TAG, extended error, reserved for local use. */
const OPTIONS = [3, 8, 9, 10, 11, 12, 13, 14, 15, 65_001];

const noise = (random: Random, longest: number): Buffer =>
  Buffer.from(Array.from({ length: random.below(longest + 1) }, () => random.below(256)));

/** Returns a query of a random shape. Most are valid; one in four is malformed. */
export function queryShape(random: Random, id: number): Buffer {
  const records = [anyOpt(random), anyOpt(random), anyRecord(random)].filter((record) => record.length > 0);
  const counts = [0, 0, records.length];
  const flags = anyFlags(random);
  const questions = random.chance(0.04) ? random.pick([0, 2]) : 1;
  const question = (): Buffer => Buffer.concat([anyName(random), uint16(anyType(random), anyClass(random))]);
  const body = [...Array.from({ length: questions }, question), ...records];
  if (random.chance(0.03)) counts[random.below(3)] = random.below(4);
  const packet = Buffer.concat([uint16(id, flags, questions, ...counts), ...body]);
  if (random.chance(0.03)) return packet.subarray(0, 2 + random.below(packet.length - 1));
  if (random.chance(0.03)) return Buffer.concat([packet, noise(random, 40)]);
  if (random.chance(0.01)) return Buffer.concat([packet, Buffer.alloc(4096)]);
  if (random.chance(0.03)) packet[2 + random.below(packet.length - 2)] = random.below(256);
  return packet;
}

/** Returns mostly the flags of a query with or without RD, AD and CD; sometimes any opcode, any bit, or a response. */
function anyFlags(random: Random): number {
  if (random.chance(0.04)) return random.below(0x10000);
  const opcode = random.chance(0.03) ? random.below(16) : 0;
  return (opcode << 11) | random.pick([0, 0x0100, 0x0010, 0x0020, 0x0120, 0x0200, 0x0400, 0x0040]);
}

function anyName(random: Random): Buffer {
  if (random.chance(0.02)) return Buffer.from([0xc0, random.below(HEADER_BYTES + 1)]);
  if (random.chance(0.02)) return Buffer.concat([Buffer.from([random.pick([0x40, 0x80])]), noise(random, 8)]);
  // Up to five labels of 63 octets, more than a name may have.
  if (random.chance(0.04))
    return Buffer.from(
      `${`\x3f${'l'.repeat(63)}`.repeat(1 + random.below(5))}\x07example\x04test\0`,
      'latin1',
    );
  if (random.chance(0.05)) {
    const label = noise(random, 62);
    return Buffer.concat([Buffer.from([label.length + 1, 0x61]), label, nameToWire(ZONE_NAME)]);
  }
  return Buffer.from(nameToWire(random.pick(random.chance(0.8) ? NAMES : OTHER_NAMES)));
}

function anyType(random: Random): number {
  if (random.chance(0.03)) return random.pick([QueryType.AXFR, QueryType.IXFR]);
  return random.chance(0.05) ? random.below(0x10000) : random.pick(TYPES);
}

function anyClass(random: Random): number {
  if (random.chance(0.75)) return CLASSES.IN;
  return random.chance(0.2) ? random.below(0x10000) : random.pick(Object.values(CLASSES));
}

/** Returns no OPT record, a usual one, or one with another version, odd sizes, and valid or malformed options. */
function anyOpt(random: Random): Buffer {
  if (random.chance(0.6)) return Buffer.alloc(0);
  const options = Array.from({ length: random.below(3) }, () => {
    const data = random.chance(0.5) ? Buffer.alloc(random.pick([0, 2, 8, 16])) : noise(random, 40);
    return Buffer.concat([uint16(random.pick(OPTIONS), data.length), data]);
  });
  const data = random.chance(0.05) ? noise(random, 20) : Buffer.concat(options);
  const length = random.chance(0.03) ? random.below(100) : data.length;
  const version = random.chance(0.15) ? 1 + random.below(255) : 0;
  const name = random.chance(0.02) ? nameToWire('www') : [0];
  return Buffer.concat([
    Buffer.from(name),
    uint16(OPT, random.pick([0, 512, 1232, 4096, 65_535])),
    Buffer.from([random.chance(0.05) ? 1 : 0, version]),
    uint16(random.pick([0, 0x8000, random.below(0x10000)]), length),
    data,
  ]);
}

/** Returns mostly nothing; sometimes a record that no query has, or an invalid TSIG. */
function anyRecord(random: Random): Buffer {
  if (random.chance(0.95)) return Buffer.alloc(0);
  const data = noise(random, 30);
  const type = random.pick([QueryType.A, 250, random.below(300)]);
  return Buffer.concat([Buffer.from([0]), uint16(type, CLASSES.IN, 0, 0, data.length), data]);
}
