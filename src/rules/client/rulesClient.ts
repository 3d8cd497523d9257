import {
  type NewRule,
  type Rule,
  type RuleFormat,
  type RuleSettings,
  readZonePolicy,
  ruleFormat,
  type ZonePolicy,
  type ZonePolicyChanges,
  type ZonePolicySettings,
  zonePolicyChanges,
} from '../index.ts';
import { Collection, member, totalOf } from './collection.ts';
import { checkedAccountId, checkedAttackId, checkedItemId } from './invalidId.ts';
import { Transport, type TransportOptions, type TransportResponse } from './transport.ts';

export interface RulesClientOptions extends TransportOptions {
  /** Base URL of the rules API with the version prefix, such as `http://127.0.0.1:8420/client/v4`. */
  readonly baseUrl: string;
  readonly accountId: string;
  /**
   * Path segment of the API. Default: `network`. `magic` is for servers with only the path of Cloudflare's clients.
   */
  readonly family?: 'network' | 'magic';
  readonly format?: RuleFormat;
}

/** Zone policy to create. A missing member gets its default. */
export type NewZonePolicy = Partial<ZonePolicySettings> & Pick<ZonePolicySettings, 'zone'>;

/** Client for the rules and zone policies of one account, and for the reports of its guards. Throws `ApiFailure`. */
export class RulesClient {
  readonly format: RuleFormat;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly rules: Collection<Rule, NewRule, Partial<RuleSettings>>;
  readonly zones: Collection<ZonePolicy, NewZonePolicy, ZonePolicyChanges>;
  readonly #transport: Transport;
  readonly #guard: string;

  constructor(options: RulesClientOptions) {
    const { family = 'network', format = ruleFormat } = options;
    this.format = format;
    this.accountId = checkedAccountId(options.accountId);
    this.baseUrl = options.baseUrl;
    const transport = new Transport(options);
    this.#transport = transport;
    this.#guard = `/accounts/${this.accountId}/${family}/advanced_dns_protection/configs/dns_protection`;
    this.rules = new Collection({
      transport,
      path: `${this.#guard}/rules`,
      idName: 'ruleId',
      read: (value) => format.readRule(value),
      missing: (rule, changes) => format.changes(rule, changes),
    });
    this.zones = new Collection({
      transport,
      path: `${this.#guard}/zones`,
      idName: 'zonePolicyId',
      read: readZonePolicy,
      missing: zonePolicyChanges,
    });
  }

  /** Returns the guard's statistics for a rule, as the server sends them. */
  async analytics(ruleId: string, query?: Readonly<Record<string, string>>): Promise<unknown> {
    return this.#result(`rules${this.rules.pathOf(ruleId)}/analytics`, query);
  }

  /** Returns the status of the server's guard, as the server sends it. Fails with status 404 without a guard. */
  async guardStatus(): Promise<unknown> {
    return this.#result('status');
  }

  /** Returns a page of attacks on the account's zones, with the total number of attacks. */
  async attacks(query?: Readonly<Record<string, string>>): Promise<{ result: unknown; total: number }> {
    const answer = await this.#get('attacks', query);
    return { result: member(answer, 'result'), total: totalOf(answer) };
  }

  async attack(attackId: string): Promise<unknown> {
    return this.#result(`attacks/${checkedAttackId(attackId)}`);
  }

  /** Returns the assessments of zones, as the server sends them. Fails with status 404 without a guard. */
  async zoneAssessments(query?: Readonly<Record<string, string>>): Promise<unknown> {
    return this.#result('zone_assessments', query);
  }

  /** Lets all guards of the account forget what they learned about the zone of a policy. */
  async forgetZone(policyId: string): Promise<void> {
    const id = checkedItemId('zonePolicyId', policyId);
    await this.#transport.send('POST', `${this.#guard}/zones/${id}/forget`);
  }

  /** Returns the guards of the account, as the server sends them. */
  async fleet(): Promise<unknown> {
    return this.#result('fleet');
  }

  #get(path: string, query: Readonly<Record<string, string>> = {}): Promise<TransportResponse> {
    const parameters = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
    return this.#transport.send('GET', `${this.#guard}/${path}${parameters}`);
  }

  async #result(path: string, query?: Readonly<Record<string, string>>): Promise<unknown> {
    return member(await this.#get(path, query), 'result');
  }
}
