// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of $GENERATE
/** Zone files: parsed, encoded and served, and their records compared with dns-packet. */
import { decode } from 'dns-packet';
import { respond, ZoneData } from '../../src/dns/authority/index.ts';
import {
  HEADER_BYTES,
  nameToText,
  nameToWire,
  queryPacket,
  typeNumber,
} from '../../src/dns/protocol/index.ts';
import { MasterFileError, readMasterFile, recordData } from '../../src/dns/zones/index.ts';
import { must, type Target } from '../engine/target.ts';
import { meaningOf } from './recordMeaning.ts';

type MasterRecord = Parameters<typeof recordData>[0];

const ORIGIN = 'example.test';
/** RFC 2181, 8. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
const MAX_DATA_BYTES = 0xffff;
/** Types whose data dns-packet can parse. */
const DECODED = new Set(['A', 'AAAA', 'NS', 'CNAME', 'PTR', 'DNAME', 'MX', 'SRV', 'TXT', 'CAA', 'SOA']);

export function open(): Target {
  return {
    seeds: SEEDS.map((text) => Buffer.from(text)),
    dictionary: [
      ...[
        '$ORIGIN ',
        '$TTL ',
        '$INCLUDE ',
        '$GENERATE ',
        '1-3 ',
        '0-9/2 ',
        '${-1,3,x}',
        '$',
        ' IN ',
        ' CH ',
        ' A ',
        ' AAAA ',
        ' NS ',
        ' MX ',
        ' TXT ',
        ' SOA ',
      ],
      ...[
        ' SRV ',
        ' CAA ',
        ' CNAME ',
        ' TYPE65534 ',
        ' \\# ',
        '\\032',
        '\\.',
        '\\"',
        '"',
        '(',
        ')',
        ';',
        '\n',
      ],
      ...[
        '\r\n',
        '@',
        '.',
        '*',
        '1h30m',
        '4294967296',
        '192.0.2.1',
        '2001:db8::1',
        'example.test.',
        '\t',
        'é',
      ],
    ],
    maxBytes: 2000,
    format: 'bytes',
    maxWork: 5_000_000,
    run(input) {
      const text = Buffer.from(input).toString();
      const lines = text.split('\n').length;
      // A large range takes more time than the fuzzer allows.
      if (/\$generate/i.test(text) && /\d-\d{3}/.test(text)) return;
      unlessRefused(() => {
        for (const record of readMasterFile(text, ORIGIN)) {
          must(record.line >= 1 && record.line <= lines, 'a record has its line number', record.line);
          must(
            Number.isInteger(record.ttlSeconds) &&
              record.ttlSeconds >= 0 &&
              record.ttlSeconds <= MAX_TTL_SECONDS,
            'a TTL is a number of 31 bits',
            record.ttlSeconds,
          );
          checkOwner(record.owner);
          checkData(record);
        }
      });
      unlessRefused(() => checkServed(new ZoneData(text, ORIGIN), text));
    },
  };
}

/** Allows only errors that name a line of the file. */
function unlessRefused(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof MasterFileError)) throw error;
    must(/^zone file, line \d+: ./.test(error.message), 'an error names its line', error.message);
  }
}

function checkOwner(owner: Uint8Array): void {
  must(owner.length <= 255 && owner.at(-1) === 0, 'an owner is a complete name', [...owner]);
  const text = nameToText(owner);
  must(nameToText(nameToWire(text)) === text, 'an owner converts to text and back', text);
}

/** The data is encoded as the RFCs specify, and dns-packet can parse it. */
function checkData(record: MasterRecord): void {
  const data = dataOf(record);
  const expected = meaningOf(record);
  const about = { type: record.type, words: record.data, data: data?.toString('hex') };
  if (expected === 'refused') must(data === undefined, 'invalid data is rejected', about);
  else if (expected !== undefined)
    must(data?.equals(expected) === true, 'data is encoded as the RFCs specify', {
      ...about,
      expected: expected.toString('hex'),
    });
  if (data === undefined) return;
  must(data.length <= MAX_DATA_BYTES, 'data fits into a record', data.length);
  if (!DECODED.has(record.type) || record.data[0] === '\\#') return;
  const [decoded] = decode(packetOf(typeNumber(record.type) ?? 0, data)).answers ?? [];
  must(decoded?.type === record.type, 'dns-packet can parse the data', about);
}

function dataOf(record: MasterRecord): Buffer | undefined {
  let data: Buffer | undefined;
  unlessRefused(() => {
    data = Buffer.from(recordData(record));
  });
  return data;
}

/** Returns a response with one record of the root. */
function packetOf(type: number, data: Uint8Array): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + 1 + 10 + data.length);
  packet[2] = 0x80;
  packet.writeUInt16BE(1, 6);
  packet.writeUInt16BE(type, HEADER_BYTES + 1);
  packet.writeUInt16BE(1, HEADER_BYTES + 3);
  packet.writeUInt16BE(data.length, HEADER_BYTES + 9);
  packet.set(data, HEADER_BYTES + 11);
  return packet;
}

/** Every answer of the zone can be parsed. */
function checkServed(zone: ZoneData, text: string): void {
  for (const { owner, type } of readMasterFile(text, ORIGIN)) {
    const answer = respond([zone], queryPacket(owner, typeNumber(type) ?? 1), true);
    must(answer !== undefined && (answer[3] ?? 0) % 16 === 0, 'a record of the zone is served', type);
    must(decode(Buffer.from(answer)).questions?.length === 1, 'an answer can be parsed');
  }
}

const SOA = '@ SOA ns hostmaster 1 3600 600 86400 60\n';
const SEEDS = [
  `$ORIGIN example.test.\n$TTL 1h\n${SOA}@ NS ns\nns A 192.0.2.1\n AAAA 2001:db8::1\n`,
  `@ IN SOA ns.example.test. first\\.last.example.test. (\n  1 ; serial\n  3600 600\n  86400 60 )\n${'www 300 IN A 192.0.2.2\n'}`,
  `${SOA}mail MX 10 mx\n_sip._tcp SRV 0 5 5060 sip\nt TXT "a;b" "c\\"d" e\\032f\nc CAA 0 issue "ca.test"\nx TYPE65534 \\# 3 0a0b0c\n`,
  `${SOA}$GENERATE 1-3 h$ A 192.0.2.$\n$GENERATE 0-9/3 \${1,2,x}.r PTR h\${0,3}\n`,
  `${SOA}*.wild 1h30m CNAME www\nsub NS ns.elsewhere.test.\nold DNAME new\n4 PTR host\nsig RRSIG A 8 2 60 20260101000000 20250101000000 1 example.test. AAAA==\n`,
];
