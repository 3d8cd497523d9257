/** The records of a zone, in memory. A lookup handles wildcards, empty non-terminals and delegations. */
import { nameToText, nameToWire, QueryType, typeNumber } from '../protocol/index.ts';
import { MasterFileError, readMasterFile, recordData } from '../zones/index.ts';

export interface ZoneRecord {
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly data: Uint8Array;
}

export interface Lookup {
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'REFUSED';
  readonly authoritative: boolean;
  readonly answers: readonly ZoneRecord[];
  readonly authority: readonly ZoneRecord[];
}

const REFUSED: Lookup = { rcode: 'REFUSED', authoritative: false, answers: [], authority: [] };

export class ZoneData {
  /** Name of the zone in lower case, in the form that `nameToText` returns. */
  readonly name: string;
  /** Records by owner and type. A name without records is an empty non-terminal: records exist only below it. */
  readonly #names = new Map<string, Map<number, ZoneRecord[]>>();
  readonly #soa: ZoneRecord;

  /**
   * Parses the zone file `text`. Throws `MasterFileError` for a syntax error, an unsupported type, a name outside the
   * zone, or a missing SOA record.
   */
  constructor(text: string, origin: string) {
    this.name = nameToText(nameToWire(origin));
    for (const record of readMasterFile(text, origin)) {
      const type = typeNumber(record.type);
      const owner = nameToText(record.owner);
      if (!this.#contains(owner)) throw new MasterFileError(record.line, `${owner} is outside ${this.name}`);
      if (type === undefined) throw new MasterFileError(record.line, `${record.type} records are not served`);
      this.#add(owner, {
        owner: record.owner,
        type,
        ttlSeconds: record.ttlSeconds,
        data: recordData(record),
      });
    }
    const [soa] = this.#names.get(this.name)?.get(QueryType.SOA) ?? [];
    if (soa === undefined) throw new MasterFileError(1, `${this.name} has no SOA record`);
    this.#soa = soa;
  }

  /** Looks up a name. It must have the form that `nameToText` returns. */
  lookup(name: string, type: number): Lookup {
    if (!this.#contains(name)) return REFUSED;
    const delegation = this.#delegationOf(name);
    if (
      delegation !== undefined &&
      !(type === QueryType.DS && nameToText(delegation[0]?.owner ?? new Uint8Array()) === name)
    )
      return { rcode: 'NOERROR', authoritative: false, answers: [], authority: delegation };
    const types = this.#names.get(name) ?? this.#wildcardFor(name);
    if (types === undefined) return this.#negative('NXDOMAIN');
    const answers = types.get(type) ?? types.get(QueryType.CNAME);
    if (answers !== undefined) return { rcode: 'NOERROR', authoritative: true, answers, authority: [] };
    return this.#negative('NOERROR');
  }

  #negative(rcode: 'NOERROR' | 'NXDOMAIN'): Lookup {
    return { rcode, authoritative: true, answers: [], authority: [this.#soa] };
  }

  #contains(name: string): boolean {
    return name === this.name || name.endsWith(`.${this.name}`) || this.name === '.';
  }

  #add(owner: string, record: ZoneRecord): void {
    for (let name = owner; name !== this.name; name = parent(name))
      if (!this.#names.has(name)) this.#names.set(name, new Map());
    const types = this.#names.get(owner) ?? new Map<number, ZoneRecord[]>();
    this.#names.set(owner, types);
    const set = types.get(record.type) ?? [];
    set.push(record);
    types.set(record.type, set);
  }

  /** Returns the NS records of the topmost delegation at or above a name. Those of the zone itself are none. */
  #delegationOf(name: string): ZoneRecord[] | undefined {
    let found: ZoneRecord[] | undefined;
    for (let at = name; at !== this.name && at !== '.'; at = parent(at))
      found = this.#names.get(at)?.get(QueryType.NS) ?? found;
    return found;
  }

  /**
   * Returns the records of the wildcard directly below the closest ancestor that exists: only this one applies (RFC
   * 4592).
   */
  #wildcardFor(name: string): Map<number, ZoneRecord[]> | undefined {
    let encloser = name;
    while (encloser !== this.name && !this.#names.has(encloser)) encloser = parent(encloser);
    return this.#names.get(`*.${encloser}`);
  }
}

/** Removes the first label of a name. The first dot ends it: `nameToText` writes a dot within a label as `\046`. */
const parent = (name: string): string => {
  const dot = name.indexOf('.');
  return dot === -1 ? '.' : name.slice(dot + 1);
};
