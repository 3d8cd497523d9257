import { randomUUID } from 'node:crypto';
import type { Place } from '../../rules/index.ts';
import type { MetRule } from '../attacks/index.ts';
import type { InstanceTold, Self } from './fleetStore.ts';
import type { Identity, IdentityStore } from './localRecords.ts';

export interface GuardSelfOptions {
  readonly account: string;
  readonly place: Place;
  readonly version: string;
  readonly dataPlane: string;
}

export interface GuardSelfDependencies {
  readonly identities: IdentityStore;
  /** The rule in force at this guard. */
  readonly rule: () => MetRule | undefined;
  readonly now?: () => number;
}

/** Who this guard is, and what it says of itself. It keeps its id for as long as there is its data folder. */
export class GuardSelf {
  readonly #options: GuardSelfOptions;
  readonly #dependencies: GuardSelfDependencies;
  readonly #now: () => number;
  readonly #run = randomUUID();
  readonly startedOn: string;
  #identity: Identity;
  #rule: MetRule | undefined;
  #ruleSince: string;

  private constructor(options: GuardSelfOptions, dependencies: GuardSelfDependencies, identity: Identity) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#identity = identity;
    this.#now = dependencies.now ?? Date.now;
    this.startedOn = new Date(this.#now()).toISOString();
    this.#rule = dependencies.rule();
    this.#ruleSince = this.startedOn;
  }

  /** One that guards another account from now on is another guard. */
  static async open(options: GuardSelfOptions, dependencies: GuardSelfDependencies): Promise<GuardSelf> {
    const { identities, now = Date.now } = dependencies;
    const { account } = options;
    const known = identities.identity();
    if (known?.account === account) return new GuardSelf(options, dependencies, known);
    const identity = { id: randomUUID(), account, sinceMs: known === undefined ? 0 : now() };
    await identities.setIdentity(identity);
    return new GuardSelf(options, dependencies, identity);
  }

  /** Becomes another guard: the data folder is a copy of one that runs elsewhere. What was counted until now is that one's. */
  async becomeAnother(): Promise<void> {
    const { account } = this.#options;
    this.#identity = { id: randomUUID(), account, sinceMs: this.#now() };
    await this.#dependencies.identities.setIdentity(this.#identity);
  }

  get id(): string {
    return this.#identity.id;
  }

  /** What was counted before is not its own. */
  get sinceMs(): number {
    return this.#identity.sinceMs;
  }

  get self(): Self {
    const { account, place } = this.#options;
    return { id: this.#identity.id, run: this.#run, account, place };
  }

  told(): InstanceTold {
    const { version, dataPlane } = this.#options;
    return {
      ...{ version, data_plane: dataPlane, started_on: this.startedOn },
      ...(this.#rule !== undefined && { rule: this.#rule }),
      rule_since: this.#ruleSince,
    };
  }

  /** Looks at the rule in force; whether it is another one than before. */
  noteRule(): boolean {
    const rule = this.#dependencies.rule();
    if (JSON.stringify(rule) === JSON.stringify(this.#rule)) return false;
    this.#rule = rule;
    this.#ruleSince = new Date(this.#now()).toISOString();
    return true;
  }
}
