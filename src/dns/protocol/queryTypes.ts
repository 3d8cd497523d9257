/** Query types that the guard knows by name, with their numbers (IANA DNS parameters). */
export const QueryType = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
  TLSA: 52,
  SVCB: 64,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const;
export type QueryTypeName = keyof typeof QueryType;

/** Frequent query types, in the order of their bits in a type set. All other types share one further bit. */
const ORDER: readonly QueryTypeName[] = [
  'A',
  'AAAA',
  'NS',
  'SOA',
  'CNAME',
  'PTR',
  'MX',
  'TXT',
  'SRV',
  'NAPTR',
  'DS',
  'DNSKEY',
  'TLSA',
  'HTTPS',
  'CAA',
];
const OTHER_TYPES_BIT = 1 << ORDER.length;

const bits = new Uint16Array(QueryType.CAA + 1).fill(OTHER_TYPES_BIT);
for (const [index, name] of ORDER.entries()) bits[QueryType[name]] = 1 << index;

/** Returns the bit of a query type in a type set, which is the 16-bit number of types stored for a known name. */
export const typeBit = (type: number): number => bits[type] ?? OTHER_TYPES_BIT;

/** The query types with their own bit in a type set, as pairs of type number and bit. */
export const TYPES_WITH_BIT: ReadonlyArray<readonly [type: number, bit: number]> = ORDER.map(
  (name, index) => [QueryType[name], 1 << index],
);

/** Returns true if a type set contains the bit that all infrequent query types share. */
export const haveOtherTypes = (types: number): boolean => (types & OTHER_TYPES_BIT) !== 0;

/** Returns the names of the query types in a type set. All types that share a bit have the name `other`. */
export const typeNames = (types: number): string[] => [
  ...ORDER.filter((_, index) => (types & (1 << index)) !== 0),
  ...((types & OTHER_TYPES_BIT) !== 0 ? ['other'] : []),
];

const numberNames = new Map<number, string>(
  Object.entries(QueryType).map(([name, number]) => [number, name]),
);

/** Returns the name of a query type, or `TYPE1234` (RFC 3597) for a type that is not in {@link QueryType}. */
export const typeName = (type: number): string => numberNames.get(type) ?? `TYPE${type}`;

/** Returns the number of a query type from its name, in any case, or from `TYPE1234`. Undefined for other text. */
export function typeNumber(name: string): number | undefined {
  const upper = name.toUpperCase();
  if (Object.hasOwn(QueryType, upper)) return QueryType[upper as QueryTypeName]; // just checked
  const generic = /^TYPE(\d{1,5})$/.exec(upper);
  const number = Number(generic?.[1] ?? Number.NaN);
  return number <= 0xffff ? number : undefined;
}
