/** The policies of zones, and what they and the rule in force prescribe for a zone. */
import type { Rule, ZonePolicy } from '../../../rules/index.ts';
import { nameToText, nameToWire } from '../../protocol/index.ts';
import { profileLevel } from '../limits/sensitivity.ts';
import type { ZoneSettings } from './sharedZone.ts';
import type { Zone } from './zone.ts';

interface PlacedPolicy {
  readonly policy: ZonePolicy;
  /** Number of the policy's zone. */
  readonly number: number;
}

export class ZonePolicies {
  readonly #byZone = new Map<string, PlacedPolicy>();
  /** Zones of the policies whose servers were overloaded during the attack that is reported. */
  #overloaded: ReadonlySet<string> = new Set();

  /** Replaces all policies. `numberOf` returns the number of a zone, or undefined if the guard has no room for it. */
  set(policies: readonly ZonePolicy[], numberOf: (zone: string) => number | undefined): void {
    this.#byZone.clear();
    for (const policy of policies) {
      const number = numberOf(policy.zone);
      if (number !== undefined) this.#byZone.set(nameToText(nameToWire(policy.zone)), { policy, number });
    }
  }

  /**
   * Records whether the servers are healthy, and the policies of the zones with a reported attack. Call every second.
   * After an overload, queries are limited until the attack ends. Otherwise, the flood would overload the servers again
   * as soon as they are healthy.
   */
  noteSecond(isHealthy: boolean, reported: ReadonlySet<ZonePolicy | undefined>): void {
    const overloaded = [...this.#byZone.values()].filter(
      ({ policy }) => reported.has(policy) && (!isHealthy || this.#overloaded.has(policy.zone)),
    );
    this.#overloaded = new Set(overloaded.map(({ policy }) => policy.zone));
  }

  /** Returns the policy of a zone or of the closest zone above it that has one. `name`: without a final dot. */
  of(name: string): ZonePolicy | undefined {
    return this.#find(name)?.policy;
  }

  /** Returns the number of the zone whose policy covers a zone, or undefined if none does. */
  numberOf(name: string): number | undefined {
    return this.#find(name)?.number;
  }

  /** Whether a zone is this one or below it, without a deeper policy in between. */
  covers(zone: string, other: string): boolean {
    if (this.of(zone) !== this.of(other)) return false;
    const name = nameToText(nameToWire(zone));
    return [...suffixesOf(other)].includes(name);
  }

  /** Returns what applies in a zone. Without a rule, or under a disabled one, nothing is limited. */
  settingsOf(zone: Zone, rule: Rule | undefined): ZoneSettings {
    const { policy } = zone;
    const wanted = policy === undefined || policy.mode === 'inherit' ? rule?.mode : policy.mode;
    const isOff =
      rule === undefined || rule.mode === 'disabled' || wanted === undefined || wanted === 'disabled';
    return {
      mode: isOff ? 'none' : wanted,
      level: profileLevel[policy?.profile_sensitivity ?? rule?.profile_sensitivity ?? 'low'],
      onlyWhenUnhealthy: policy?.only_when_upstream_unhealthy === true && !this.#overloaded.has(policy.zone),
      payer: policy === undefined ? undefined : this.#payerOf(zone, policy),
    };
  }

  /** A rate of a policy limits all its zones together. Other settings only size the zone's own bucket. */
  #payerOf({ name, byRate, number }: Zone, policy: ZonePolicy): number | undefined {
    if (policy.rate !== null) return this.#find(name)?.number;
    const isOwn =
      policy.burst !== null || policy.rate_sensitivity !== null || policy.burst_sensitivity !== null;
    return isOwn && !byRate ? number : undefined;
  }

  #find(name: string): PlacedPolicy | undefined {
    if (this.#byZone.size === 0) return undefined;
    for (const suffix of suffixesOf(name)) {
      const found = this.#byZone.get(suffix);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Yields a name and the names above it, up to the root, without final dots. */
function* suffixesOf(name: string): Generator<string> {
  for (let wire = nameToWire(name); ; wire = wire.subarray((wire[0] ?? 0) + 1)) {
    yield nameToText(wire);
    if (wire.length <= 1) return;
  }
}
