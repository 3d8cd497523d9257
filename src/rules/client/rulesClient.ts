import { randomUUID } from 'node:crypto';
import { type NewRule, type Rule, type RuleFormat, type RuleSettings, ruleFormat } from '../index.ts';
import { ApiFailure } from './apiFailure.ts';
import { checkedAccountId, checkedAttackId, checkedRuleId } from './invalidId.ts';
import { type Answer, Transport, type TransportOptions } from './transport.ts';

export interface RulesClientOptions extends TransportOptions {
  /** With the version prefix, such as `http://127.0.0.1:8420/client/v4`. */
  readonly baseUrl: string;
  readonly accountId: string;
  /** `magic` where the server knows only the path of Cloudflare's clients. */
  readonly family?: 'network' | 'magic';
  /** The fields that rules have. */
  readonly format?: RuleFormat;
}

/** A rule with the tag of its state; undefined where the server gives none. */
export interface StoredRule {
  readonly rule: Rule;
  readonly etag: string | undefined;
}

export interface Created {
  readonly rule: Rule;
  readonly messages: readonly string[];
  readonly replayed: boolean;
}

/** The largest page that every server with this interface gives. */
const PAGE_SIZE = 1000;
/** No account holds more pages than this; a server that never ends its list is not asked for ever. */
const MAX_PAGES = 1000;

/**
 * The rules of one account on one server. Every method throws `ApiFailure` where it did not succeed, and
 * `InvalidIdError`, with nothing sent, where an id is none; so does the constructor for the account.
 */
export class RulesClient {
  readonly format: RuleFormat;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly #transport: Transport;
  readonly #collection: string;
  readonly #guard: string;

  constructor(options: RulesClientOptions) {
    const { family = 'network', format = ruleFormat } = options;
    this.format = format;
    this.accountId = checkedAccountId(options.accountId);
    this.baseUrl = options.baseUrl;
    this.#transport = new Transport(options);
    this.#guard = `/accounts/${this.accountId}/${family}/advanced_dns_protection/configs/dns_protection`;
    this.#collection = `${this.#guard}/rules`;
  }

  /** All rules, over as many pages as it takes. */
  async list(): Promise<Rule[]> {
    const rules = new Map<string, Rule>();
    for (let page = 1; page <= MAX_PAGES; page++) {
      const answer = await this.#transport.send(
        'GET',
        `${this.#collection}?page=${page}&per_page=${PAGE_SIZE}`,
      );
      const known = rules.size;
      for (const rule of this.#readRules(answer)) rules.set(rule.id, rule);
      // A server may give smaller pages than it was asked for: the end is where it says so, or where nothing new comes.
      if (rules.size === known || rules.size >= totalOf(answer)) break;
    }
    return [...rules.values()];
  }

  async get(ruleId: string): Promise<StoredRule> {
    return this.#stored(await this.#transport.send('GET', this.#path(ruleId)));
  }

  /**
   * Also tells what the server thinks worth knowing. A creation that comes with the key of an earlier one is `replayed`:
   * that one's rule is answered, as it was then.
   */
  async create(rule: NewRule, key: string = randomUUID()): Promise<Created> {
    // With a key of its own a lost answer can be asked for again without a second rule.
    const headers = { 'idempotency-key': key };
    const answer = await this.#transport.send('POST', this.#collection, { body: rule, headers });
    return {
      rule: this.#stored(answer).rule,
      messages: messagesOf(answer),
      replayed: answer.replayed,
    };
  }

  /** Fails with status 412 where the rule is not as `etag` says. */
  async update(ruleId: string, changes: Partial<RuleSettings>, etag?: string): Promise<Rule> {
    const headers = ifMatch(etag);
    try {
      const answer = await this.#transport.send('PATCH', this.#path(ruleId), { body: changes, headers });
      return this.#stored(answer).rule;
    } catch (error) {
      // Made by an attempt whose answer was lost, it does not fit its own precondition any more.
      if (!(error instanceof ApiFailure && error.status === 412 && error.afterLostAnswer)) throw error;
      const { rule } = await this.get(ruleId);
      if (Object.keys(this.format.changes(rule, changes)).length > 0) throw error;
      return rule;
    }
  }

  /** Whether there is such a rule. */
  async has(ruleId: string): Promise<boolean> {
    try {
      await this.get(ruleId);
      return true;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return false;
      throw error;
    }
  }

  async delete(ruleId: string, etag?: string): Promise<void> {
    await this.#transport.send('DELETE', this.#path(ruleId), { headers: ifMatch(etag) });
  }

  async deleteAll(): Promise<void> {
    await this.#transport.send('DELETE', this.#collection);
  }

  /** What a guard beside the server saw under a rule, as the server tells it. */
  async analytics(ruleId: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const answer = await this.#transport.send(
      'GET',
      `${this.#path(ruleId)}/analytics?${new URLSearchParams(query)}`,
    );
    return member(answer, 'result');
  }

  /** How a guard beside the server stands, as the server tells it. Fails with status 404 where there is none. */
  async guardStatus(): Promise<unknown> {
    return member(await this.#transport.send('GET', `${this.#guard}/status`), 'result');
  }

  /** A page of attacks on the account's zones, and how many there are on all pages. */
  async attacks(query: Readonly<Record<string, string>> = {}): Promise<{ result: unknown; total: number }> {
    const answer = await this.#transport.send('GET', `${this.#guard}/attacks?${new URLSearchParams(query)}`);
    return { result: member(answer, 'result'), total: totalOf(answer) };
  }

  async attack(attackId: string): Promise<unknown> {
    return member(
      await this.#transport.send('GET', `${this.#guard}/attacks/${checkedAttackId(attackId)}`),
      'result',
    );
  }

  /** The guards of the account, as the server tells them. */
  async fleet(): Promise<unknown> {
    return member(await this.#transport.send('GET', `${this.#guard}/fleet`), 'result');
  }

  #path(ruleId: string): string {
    return `${this.#collection}/${checkedRuleId(ruleId)}`;
  }

  #stored(answer: Answer): StoredRule {
    return { rule: this.#readRule(member(answer, 'result'), answer), etag: answer.etag };
  }

  #readRules(answer: Answer): Rule[] {
    const result = member(answer, 'result');
    if (!Array.isArray(result)) throw unexpected(answer);
    return result.map((item) => this.#readRule(item, answer));
  }

  #readRule(value: unknown, answer: Answer): Rule {
    const rule = this.format.readRule(value);
    if (rule === undefined) throw unexpected(answer);
    return rule;
  }
}

function ifMatch(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { 'if-match': etag };
}

/** How many rules there are on all pages; more than any where the server does not say. */
function totalOf(answer: Answer): number {
  const info = member(answer, 'result_info');
  const total =
    typeof info === 'object' && info !== null && 'total_count' in info ? info.total_count : undefined;
  return typeof total === 'number' ? total : Number.POSITIVE_INFINITY;
}

function messagesOf(answer: Answer): string[] {
  const messages = member(answer, 'messages');
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((entry) =>
    typeof entry === 'object' && entry !== null && 'message' in entry ? [String(entry.message)] : [],
  );
}

function member({ envelope }: Answer, name: string): unknown {
  return typeof envelope === 'object' && envelope !== null
    ? (envelope as Record<string, unknown>)[name]
    : undefined;
}

function unexpected({ request }: Answer): ApiFailure {
  return new ApiFailure(`${request}: the answer is not what a rules API gives; check the URL`);
}
