import { nameToWire } from '../../../src/dns/protocol/index.ts';

const OPT = 41;
const UDP_BYTES = 4096;

export const uint16 = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt16BE(number, 2 * index);
  return bytes;
};

/** Returns an option of an OPT record. `length` overrides the length field. */
export const option = (code: number, data: Buffer, length = data.length): Buffer =>
  Buffer.concat([uint16(code, length), data]);

export interface OptFields {
  readonly options?: Buffer;
  readonly dnssecOk?: boolean;
  readonly version?: number;
  /** Default: the root. */
  readonly owner?: string;
}

/** Returns an OPT record that offers a UDP size of 4096. */
export const opt = ({ options, dnssecOk, version, owner }: OptFields = {}): Buffer => {
  const data = options ?? Buffer.alloc(0);
  const name = nameToWire(owner ?? '.');
  return Buffer.concat([
    name,
    uint16(OPT, UDP_BYTES, version ?? 0, dnssecOk ? 0x8000 : 0, data.length),
    data,
  ]);
};

/** Appends records to the additional section of a query. */
export function withRecords(packet: Buffer, ...records: readonly Buffer[]): Buffer {
  const whole = Buffer.concat([packet, ...records]);
  whole.writeUInt16BE(packet.readUInt16BE(10) + records.length, 10);
  return whole;
}

/** Returns the OPT record of an answer of the guard: UDP size 1232, DO as in the query, and an Extended DNS Error. */
export function ownOpt(dnssecOk = false, error?: number): Buffer {
  const record = opt({ dnssecOk, ...(error !== undefined && { options: option(15, uint16(error)) }) });
  record.writeUInt16BE(1232, 3);
  return record;
}
