import { randomUUID } from 'node:crypto';
import { type NewRule, type Rule, type RuleFormat, type RuleSettings, ruleFormat } from '../index.ts';
import { ApiFailure } from './apiFailure.ts';
import { checkedAccountId, checkedAttackId, checkedRuleId } from './invalidId.ts';
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

/** Rule with its ETag; undefined if the server sends none. */
export interface StoredRule {
  readonly rule: Rule;
  readonly etag: string | undefined;
}

export interface Created {
  readonly rule: Rule;
  readonly messages: readonly string[];
  readonly replayed: boolean;
}

/** Number of rules to request per page: the maximum that all servers with this API support. */
const PAGE_SIZE = 1000;
/** Maximum number of pages to request, because the list of a faulty server may never end. */
const MAX_PAGES = 1000;

/** Client for the rules of one account. Throws `ApiFailure`, or `InvalidIdError` without sending an invalid id. */
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

  /** Returns all rules of the account. Requests as many pages as needed. */
  async list(): Promise<Rule[]> {
    const rules = new Map<string, Rule>();
    for (let page = 1; page <= MAX_PAGES; page++) {
      const answer = await this.#transport.send(
        'GET',
        `${this.#collection}?page=${page}&per_page=${PAGE_SIZE}`,
      );
      const known = rules.size;
      for (const rule of this.#readRules(answer)) rules.set(rule.id, rule);
      // A server may return smaller pages than requested. So the list ends at the total that the server reports, or
      // at a page without a new rule.
      if (rules.size === known || rules.size >= totalOf(answer)) break;
    }
    return [...rules.values()];
  }

  async get(ruleId: string): Promise<StoredRule> {
    return this.#stored(await this.#transport.send('GET', this.#path(ruleId)));
  }

  /** Creates a rule. If the idempotency key was used before, returns the rule created then, with `replayed` set. */
  async create(rule: NewRule, key: string = randomUUID()): Promise<Created> {
    // With an idempotency key, the request can be repeated after a lost response without creating a second rule.
    const headers = { 'idempotency-key': key };
    const answer = await this.#transport.send('POST', this.#collection, { body: rule, headers });
    return {
      rule: this.#stored(answer).rule,
      messages: messagesOf(answer),
      replayed: answer.replayed,
    };
  }

  /** Changes settings of a rule. Fails with status 412 if the rule's ETag is no longer `etag`. */
  async update(ruleId: string, changes: Partial<RuleSettings>, etag?: string): Promise<Rule> {
    const headers = ifMatch(etag);
    try {
      const answer = await this.#transport.send('PATCH', this.#path(ruleId), { body: changes, headers });
      return this.#stored(answer).rule;
    } catch (error) {
      // If an earlier attempt made the change and its response was lost, the ETag differs and the retry fails with
      // 412.
      if (!(error instanceof ApiFailure && error.status === 412 && error.afterLostResponse)) throw error;
      const { rule } = await this.get(ruleId);
      if (Object.keys(this.format.changes(rule, changes)).length > 0) throw error;
      return rule;
    }
  }

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

  /** Returns the guard's statistics for a rule, as the server sends them. */
  async analytics(ruleId: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const answer = await this.#transport.send(
      'GET',
      `${this.#path(ruleId)}/analytics?${new URLSearchParams(query)}`,
    );
    return member(answer, 'result');
  }

  /** Returns the status of the server's guard, as the server sends it. Fails with status 404 without a guard. */
  async guardStatus(): Promise<unknown> {
    return member(await this.#transport.send('GET', `${this.#guard}/status`), 'result');
  }

  /** Returns a page of attacks on the account's zones, with the total number of attacks. */
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

  /** Returns the guards of the account, as the server sends them. */
  async fleet(): Promise<unknown> {
    return member(await this.#transport.send('GET', `${this.#guard}/fleet`), 'result');
  }

  #path(ruleId: string): string {
    return `${this.#collection}/${checkedRuleId(ruleId)}`;
  }

  #stored(answer: TransportResponse): StoredRule {
    return { rule: this.#readRule(member(answer, 'result'), answer), etag: answer.etag };
  }

  #readRules(answer: TransportResponse): Rule[] {
    const result = member(answer, 'result');
    if (!Array.isArray(result)) throw unexpected(answer);
    return result.map((item) => this.#readRule(item, answer));
  }

  #readRule(value: unknown, answer: TransportResponse): Rule {
    const rule = this.format.readRule(value);
    if (rule === undefined) throw unexpected(answer);
    return rule;
  }
}

function ifMatch(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { 'if-match': etag };
}

/** Returns the total number of items on all pages of a list; infinity if the server does not report it. */
function totalOf(answer: TransportResponse): number {
  const info = member(answer, 'result_info');
  const total =
    typeof info === 'object' && info !== null && 'total_count' in info ? info.total_count : undefined;
  return typeof total === 'number' ? total : Number.POSITIVE_INFINITY;
}

function messagesOf(answer: TransportResponse): string[] {
  const messages = member(answer, 'messages');
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((entry) =>
    typeof entry === 'object' && entry !== null && 'message' in entry ? [String(entry.message)] : [],
  );
}

function member({ envelope }: TransportResponse, name: string): unknown {
  return typeof envelope === 'object' && envelope !== null
    ? (envelope as Record<string, unknown>)[name]
    : undefined;
}

function unexpected({ request }: TransportResponse): ApiFailure {
  return new ApiFailure(`${request}: the response is not from a rules API; check the URL`);
}
