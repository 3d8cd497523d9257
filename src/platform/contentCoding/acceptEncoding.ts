import { COMPRESSORS, type Coding, codingNamed } from './coding.ts';

/** What a client takes of what can be sent. */
export interface Accepted {
  /** What it likes best, the best for us among equals; undefined where that is no coding. */
  readonly best: Coding | undefined;
  readonly gzip: boolean;
}

/** Longer is what no client sends. */
const MAX_HEADER_CHARS = 1_024;
/** Headers whose meaning is remembered: those of the few kinds of clients that there are. */
const MAX_REMEMBERED = 64;

const ELEMENT = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;
const NOTHING: Accepted = { best: undefined, gzip: false };

/** Reads an Accept-Encoding header (RFC 9110, 12.5.3). What cannot be read of it accepts nothing. */
export function acceptedCodings(header: string): Accepted {
  if (header.length > MAX_HEADER_CHARS) return NOTHING;
  const weights = new Map<string, number>();
  for (const element of header.split(',')) {
    const [, name, weight = '1'] = ELEMENT.exec(element.trim()) ?? [];
    if (name === undefined) continue;
    const coding = codingNamed(name);
    // Named twice, the lower one counts: nobody gets what they refuse.
    weights.set(coding, Math.min(weights.get(coding) ?? 1, Number(weight)));
  }
  const any = weights.get('*') ?? 0;
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of COMPRESSORS.keys()) {
    const weight = weights.get(coding) ?? any;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  if ((weights.get('identity') ?? 0) > bestWeight) return NOTHING;
  return { best, gzip: (weights.get('gzip') ?? any) > 0 };
}

/** The same, remembered. */
export class AcceptedCodings {
  readonly #known = new Map<string, Accepted>();

  of(header: string): Accepted {
    const known = this.#known.get(header);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    const accepted = acceptedCodings(header);
    this.#known.set(header, accepted);
    return accepted;
  }
}
