/**
 * Names as they were stored before their notes had zone and days: types (16 bits) | hour of the last answer (12) | three bits
 * unused | seeded (1).
 */
import { DAY_MASK } from './entry.ts';
import type { ProfileEntry } from './profile.ts';

const HOUR_MS = 3_600_000;
const HOUR_MASK = 0xfff;
const HOURS_PER_DAY = 24;
const DAY_SHIFT = 9;
/** What is not known is taken for two days: it gives way to what is proven, and behind what is new. */
const TENURE_OF_OLD = 1 << 5;

/**
 * The same name in today's form. It is outside every zone until it is answered, and learned: a zone that lists it says so as soon
 * as it is read.
 */
export function entryOfOldForm([high, low, note, second]: ProfileEntry, savedMs: number): ProfileEntry {
  const savedHour = Math.floor(savedMs / HOUR_MS);
  const hours = (savedHour - (note >>> 4)) & HOUR_MASK;
  const silentDays = hours > HOUR_MASK / 2 ? 0 : Math.floor(hours / HOURS_PER_DAY);
  const day = -silentDays & DAY_MASK;
  const first = ((note & 0xffff0000) | (day << DAY_SHIFT) | TENURE_OF_OLD) >>> 0;
  return [high, low, first, second & 0xff00];
}
