/**
 * Converts names of limited queries to patterns. A pattern contains the known suffix of the name as text, and each
 * label before the suffix as character class and length. A million random names become one pattern, of which an
 * attacker controls only classes and lengths.
 */
import type { AttackDetector, Zone } from '../detector/index.ts';
import { nameToText, type Question, questionOfWire } from '../protocol/index.ts';

/** Maximum number of labels before the known suffix in a pattern. `**` stands for all further labels. */
const SHOWN_LABELS = 3;
/** Maximum number of suffixes of a name to look up in the profile. Names that users query have fewer labels. */
const MOST_LOOKED_UP = 8;
const LENGTHS = [4, 8, 16, 32, 63];
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^[0-9]*$/, '0-9'],
  [/^[0-9a-f]*$/, '0-9a-f'],
  [/^[a-z]*$/, 'a-z'],
  [/^[0-9a-z]*$/, '0-9a-z'],
  [/^[0-9a-z_-]*$/, '0-9a-z_-'],
];

export interface PatternParts {
  readonly detector: Pick<AttackDetector, 'key' | 'profile'>;
  readonly zone: Pick<Zone, 'name'>;
}

/**
 * Returns the pattern of a name, such as `[0-9a-z]{9-16}.www.example.com`, or the name itself if it is known.
 * `question` is the question for this name.
 */
export function namePattern(name: Uint8Array, question: Question, { detector, zone }: PatternParts): string {
  const offsets = labelOffsets(name);
  const zoneLabels = zone.name === '' ? 0 : zone.name.split('.').length;
  let known = Math.min(zoneLabels, offsets.length);
  const most = Math.min(offsets.length, zoneLabels + MOST_LOOKED_UP);
  for (let labels = zoneLabels + 1; labels <= most; labels++)
    if (isKnown(name.subarray(offsets[offsets.length - labels] ?? 0), question.type, detector))
      known = labels;
  const front = offsets.slice(0, offsets.length - known).map((at) => shapeOf(name, at));
  const shown = front.length > SHOWN_LABELS ? ['**', ...front.slice(-SHOWN_LABELS)] : front;
  const rest = known === 0 ? [] : [nameToText(name, offsets[offsets.length - known])];
  return [...shown, ...rest].join('.') || '.';
}

function isKnown(wire: Uint8Array, type: number, { key, profile }: PatternParts['detector']): boolean {
  const { hashHigh, hashLow } = questionOfWire(wire, type, key);
  return profile.find(hashHigh, hashLow) >= 0;
}

function labelOffsets(name: Uint8Array): number[] {
  const offsets: number[] = [];
  for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1) offsets.push(at);
  return offsets;
}

/** Returns character class and range of lengths of the label at this offset, such as `[0-9a-z]{9-16}`. */
function shapeOf(name: Uint8Array, at: number): string {
  const length = name[at] ?? 0;
  const text = String.fromCharCode(...name.subarray(at + 1, at + 1 + length)).toLowerCase();
  const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'any byte';
  const index = LENGTHS.findIndex((longest) => length <= longest);
  const shortest = index === 0 ? 1 : (LENGTHS[index - 1] ?? 0) + 1;
  return `[${kind}]{${shortest}-${LENGTHS[index]}}`;
}
