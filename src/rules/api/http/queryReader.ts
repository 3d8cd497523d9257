import { type Fault, InvalidRule, parseMoment, periodFaults, pointerTo, quoteText } from '../../index.ts';

/** Returns the parameters that `parse` reads. Ignores unknown parameters. Throws `InvalidRule` with all faults. */
export function readQuery<T>(query: Readonly<Record<string, unknown>>, parse: (reader: QueryReader) => T): T {
  const reader = new QueryReader(query);
  const parameters = parse(reader);
  if (reader.faults.length > 0) throw new InvalidRule(reader.faults);
  return parameters;
}

/** Parses the parameters of a query, and collects their faults. */
export class QueryReader {
  readonly faults: Fault[] = [];
  readonly #query: Readonly<Record<string, unknown>>;

  constructor(query: Readonly<Record<string, unknown>>) {
    this.#query = query;
  }

  /** Returns a parameter. If it is absent or `parse` returns undefined, which is a fault, returns undefined. */
  read<T>(name: string, allowed: string, parse: (text: string) => T | undefined): T | undefined {
    const text = this.#query[name];
    if (text === undefined) return undefined;
    const value = typeof text === 'string' ? parse(text) : undefined;
    const got = typeof text === 'string' ? quoteText(text) : 'more than one value';
    if (value === undefined)
      this.faults.push({ pointer: pointerTo(name), message: `${name} must be ${allowed}; got ${got}` });
    return value;
  }

  /** Returns an integer of 1 or more. */
  integer(name: string, highest = Number.MAX_SAFE_INTEGER): number | undefined {
    return this.read(name, `an integer from 1 to ${highest}`, (text) => {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
      return number >= 1 && number <= highest ? number : undefined;
    });
  }

  /** Returns a time in the format of `formatTimestamp`. */
  moment(name: string): string | undefined {
    return this.read(name, 'a time such as 2026-11-20T22:10:38Z', parseMoment);
  }

  /** Returns the times `since` and `until`. */
  period(): { readonly since: string | undefined; readonly until: string | undefined } {
    const [since, until] = [this.moment('since'), this.moment('until')];
    this.faults.push(...periodFaults(since, until));
    return { since, until };
  }
}
