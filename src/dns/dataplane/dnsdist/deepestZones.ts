import { all, inZones, not, oneOf, type RuleExpression } from './ruleData.ts';

/**
 * Selects queries by their deepest zone, as the detector judges them. dnsdist itself only tests whether a zone contains
 * a name, so the zones below it must be excluded.
 */
export class DeepestZones {
  readonly #parents = new Map<string, string>();
  readonly #children = new Map<string, string[]>();

  /** `zones`: names of all known zones. Names outside of them are in the zone with the empty name. */
  constructor(zones: readonly string[]) {
    const known = new Set(zones);
    for (const zone of known) {
      if (zone === '') continue;
      const parent = parentOf(zone, known);
      this.#parents.set(zone, parent);
      const siblings = this.#children.get(parent);
      if (siblings === undefined) this.#children.set(parent, [zone]);
      else siblings.push(zone);
    }
  }

  /** Returns a selector of the queries whose deepest zone is one of `zones`. */
  among(zones: readonly string[]): RuleExpression {
    const wanted = new Set(zones);
    const parts: RuleExpression[] = [];
    // Selectors may not be nested deeply (rulesLoader.ts), so each level of wanted zones is a separate part.
    for (let inside = zones.filter((zone) => !this.#isBelow(zone, wanted)); inside.length > 0; ) {
      const outside = inside.flatMap((zone) => this.#nearestOthers(zone, wanted));
      parts.push(outside.length === 0 ? inZones(inside) : all([inZones(inside), not(inZones(outside))]));
      inside = outside.flatMap((zone) => this.#nearestOthers(zone, wanted));
    }
    return parts.length === 1 ? (parts[0] as RuleExpression) : oneOf(parts); // one element
  }

  /** Returns the nearest zones below `zone` that are wanted if `zone` is not, or the reverse. */
  #nearestOthers(zone: string, wanted: ReadonlySet<string>): string[] {
    const isWanted = wanted.has(zone);
    return (this.#children.get(zone) ?? []).flatMap((child) =>
      wanted.has(child) === isWanted ? this.#nearestOthers(child, wanted) : [child],
    );
  }

  #isBelow(zone: string, wanted: ReadonlySet<string>): boolean {
    for (let at = this.#parents.get(zone); at !== undefined; at = this.#parents.get(at))
      if (wanted.has(at)) return true;
    return false;
  }
}

/** Returns the deepest known zone above `zone`. */
function parentOf(zone: string, known: ReadonlySet<string>): string {
  for (let dot = zone.indexOf('.'); dot >= 0; dot = zone.indexOf('.', dot + 1))
    if (known.has(zone.slice(dot + 1))) return zone.slice(dot + 1);
  return '';
}
