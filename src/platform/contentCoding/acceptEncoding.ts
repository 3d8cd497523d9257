import { COMPRESSORS, type Coding, normaliseCodingName } from './coding.ts';

/** Longer Accept-Encoding headers are not parsed. */
const MAX_HEADER_CHARS = 1_024;
/** Maximum number of Accept-Encoding headers whose coding is cached. Clients send few distinct headers. */
const MAX_CACHED_HEADERS = 64;

const ELEMENT = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Returns the content coding with the highest weight in an Accept-Encoding header (RFC 9110, 12.5.3); on a tie, the
 * first in `COMPRESSORS`. Returns undefined if the client prefers no coding. Ignores invalid elements.
 */
export function acceptedCoding(header: string): Coding | undefined {
  if (header.length > MAX_HEADER_CHARS) return undefined;
  const weights = new Map<string, number>();
  for (const element of header.split(',')) {
    const [, name, weight = '1'] = ELEMENT.exec(element.trim()) ?? [];
    if (name === undefined) continue;
    const coding = normaliseCodingName(name);
    // If a coding is repeated, its lowest weight counts, because the client may reject the coding.
    weights.set(coding, Math.min(weights.get(coding) ?? 1, Number(weight)));
  }
  const any = weights.get('*') ?? 0;
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of COMPRESSORS.keys()) {
    const weight = weights.get(coding) ?? any;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  return (weights.get('identity') ?? 0) > bestWeight ? undefined : best;
}

export class AcceptedCodings {
  readonly #cached = new Map<string, Coding | undefined>();

  of(header: string): Coding | undefined {
    const cached = this.#cached.get(header);
    if (cached !== undefined || this.#cached.has(header)) return cached;
    if (this.#cached.size >= MAX_CACHED_HEADERS) this.#cached.clear();
    const coding = acceptedCoding(header);
    this.#cached.set(header, coding);
    return coding;
  }
}
