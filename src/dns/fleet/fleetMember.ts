import { randomUUID } from 'node:crypto';
import type { GuardLocation } from '../../rules/index.ts';
import type { AttackRule } from '../attacks/index.ts';
import type { InstanceReport, MemberIdentity } from './fleetStore.ts';
import type { Identity, IdentityStore } from './localRecords.ts';

export interface FleetMemberOptions {
  readonly account: string;
  readonly place: GuardLocation;
  readonly version: string;
  readonly dataPlane: string;
}

export interface FleetMemberDependencies {
  readonly identities: IdentityStore;
  readonly rule: () => AttackRule | undefined;
  readonly now?: () => number;
}

/** Identity and status of this guard in the fleet. The id is stored in the data folder, so it survives restarts. */
export class FleetMember {
  readonly #options: FleetMemberOptions;
  readonly #dependencies: FleetMemberDependencies;
  readonly #now: () => number;
  readonly #run = randomUUID();
  readonly startedOn: string;
  #identity: Identity;
  #rule: AttackRule | undefined;
  #ruleSince: string;

  private constructor(
    options: FleetMemberOptions,
    dependencies: FleetMemberDependencies,
    identity: Identity,
  ) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#identity = identity;
    this.#now = dependencies.now ?? Date.now;
    this.startedOn = new Date(this.#now()).toISOString();
    this.#rule = dependencies.rule();
    this.#ruleSince = this.startedOn;
  }

  /** Loads the stored identity. If there is none, or the account has changed, the guard gets a new id. */
  static async open(
    options: FleetMemberOptions,
    dependencies: FleetMemberDependencies,
  ): Promise<FleetMember> {
    const { identities, now = Date.now } = dependencies;
    const { account } = options;
    const known = identities.identity();
    if (known?.account === account) return new FleetMember(options, dependencies, known);
    const identity = { id: randomUUID(), account, sinceMs: known === undefined ? 0 : now() };
    await identities.setIdentity(identity);
    return new FleetMember(options, dependencies, identity);
  }

  /** Takes a new id, because another guard uses a copy of this data folder. Older records keep the old id. */
  async renewIdentity(): Promise<void> {
    const { account } = this.#options;
    this.#identity = { id: randomUUID(), account, sinceMs: this.#now() };
    await this.#dependencies.identities.setIdentity(this.#identity);
  }

  get id(): string {
    return this.#identity.id;
  }

  /** Time, in milliseconds, from which on the records in the data folder belong to the current id. */
  get sinceMs(): number {
    return this.#identity.sinceMs;
  }

  get identity(): MemberIdentity {
    const { account, place } = this.#options;
    return { id: this.#identity.id, run: this.#run, account, place };
  }

  report(): InstanceReport {
    const { version, dataPlane } = this.#options;
    return {
      version,
      data_plane: dataPlane,
      started_on: this.startedOn,
      ...(this.#rule !== undefined && { rule: this.#rule }),
      rule_since: this.#ruleSince,
    };
  }

  /** Reads the rule in force. Returns true if the rule has changed since the last call. */
  refreshRule(): boolean {
    const rule = this.#dependencies.rule();
    if (JSON.stringify(rule) === JSON.stringify(this.#rule)) return false;
    this.#rule = rule;
    this.#ruleSince = new Date(this.#now()).toISOString();
    return true;
  }
}
