import type { Random } from '../../test/support/random.ts';
import type { Material } from './mutate.ts';

/** Values that JSON readers confuse or do not expect. */
const TELLING_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, -1, 1.5, 1e300, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)],
  ...[
    '',
    '0',
    '0x',
    '0x0',
    '0x00',
    '0xg',
    '0X1',
    `0x${'f'.repeat(64)}`,
    `0x${'f'.repeat(65)}`,
    'é',
    '\ud800',
  ],
  ...[[], [[]], {}, { length: 1 }],
];
const MAX_COPIES = 40;
const DIGITS = [...'0123456789abcdefABCDEFx:. '];

/** A value and its position in the enclosing object or array. */
interface Place {
  readonly members: object;
  readonly key: string;
  readonly value: unknown;
}

type JsonMutation = (place: Place, material: Material, places: readonly Place[]) => void;

/** Returns the input with one value replaced, removed, renamed or repeated; undefined if it is not JSON. */
export function mutateJson(input: Uint8Array, material: Material): Uint8Array | undefined {
  const root = parse(input);
  if (root === undefined) return undefined;
  const holder = { root };
  const places = placesOf(holder);
  const { random } = material;
  random.pick(MUTATIONS)(random.pick(places), material, places);
  return Buffer.from(JSON.stringify(holder.root) ?? 'null');
}

const MUTATIONS: readonly JsonMutation[] = [
  (place, { random }) => put(place, random.pick(TELLING_VALUES)),
  (place, { random }, places) => put(place, structuredClone(random.pick(places).value)),
  (place, { random, other }) => put(place, random.pick(placesOf({ root: parse(other()) })).value),
  (place, { random, dictionary }) => put(place, Buffer.from(random.pick(dictionary)).toString()),
  (place, { random }) => put(place, near(place.value, random)),
  (place, { random }) => put(place, near(place.value, random)),
  remove,
  rename,
  repeat,
];

function put({ members, key }: Place, value: unknown): void {
  // Like JSON.parse: `__proto__` is an ordinary member.
  Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
}

function remove({ members, key }: Place): void {
  if (Array.isArray(members)) members.splice(Number(key), 1);
  else Reflect.deleteProperty(members, key);
}

function rename(place: Place, { random, dictionary }: Material): void {
  if (Array.isArray(place.members)) return;
  remove(place);
  const name = random.chance(0.5) ? Buffer.from(random.pick(dictionary)).toString() : `${place.key}_`;
  put({ ...place, key: name }, place.value);
}

function repeat({ members, key, value }: Place, { random }: Material): void {
  if (!Array.isArray(members)) return;
  const copies = random.chance(0.1) ? random.below(MAX_COPIES) : 1;
  members.splice(Number(key), 0, ...Array.from({ length: copies }, () => structuredClone(value)));
}

/** Returns a slightly different value. */
function near(value: unknown, random: Random): unknown {
  if (typeof value === 'number') return value + random.between(-2, 2);
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return [value];
  const at = random.below(value.length + 1);
  const cut = random.pick([0, 0, 1, 2, value.length]);
  return value.slice(0, at) + (random.chance(0.7) ? random.pick(DIGITS) : '') + value.slice(at + cut);
}

/** Returns all values within an object. */
function placesOf(holder: object): Place[] {
  const places: Place[] = [];
  const due = [holder];
  for (const members of due)
    for (const [key, value] of Object.entries(members)) {
      places.push({ members, key, value });
      if (typeof value === 'object' && value !== null) due.push(value);
    }
  return places;
}

function parse(input: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(input).toString());
  } catch {
    return undefined;
  }
}
