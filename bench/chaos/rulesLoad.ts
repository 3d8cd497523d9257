import type { Rule } from '../../src/rules/index.ts';
import type { Random } from '../../test/support/random.ts';
import { type Program, TOKEN } from './program.ts';
import { REQUEST_TIMEOUT_MS, repeat, rest, Tally } from './tally.ts';

const WRITERS = 4;
const BETWEEN_CHANGES_MS = 10;
/** Below the limit of 1,000 rules per account. */
const MAX_RULES = 200;
const FOLDER = 'network/advanced_dns_protection/configs/dns_protection/rules';

/** State of a rule known to its writer: as last acknowledged, and a change without acknowledgement. */
interface Known {
  rule: Rule;
  /** A new mode that was sent but not acknowledged. */
  openMode?: Rule['mode'];
  mayBeGone?: true;
}

/** A request for all rules of an account, or for one rule. */
interface Asked {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly id?: string;
  readonly body?: object;
}

/** Writers that change rules, each in its own account, and record what was acknowledged. */
export class RulesLoad {
  readonly tally = new Tally('rules API');
  readonly #program: Program;
  readonly #random: Random;
  readonly #known = Array.from({ length: WRITERS }, () => new Map<string, Known>());
  /** Names of rules whose creation was not acknowledged. */
  readonly #open = new Set<string>();
  #names = 0;

  constructor(program: Program, random: Random) {
    this.#program = program;
    this.#random = random;
  }

  run(isFinished: () => boolean): Promise<unknown> {
    return Promise.all(
      this.#known.map((rules, writer) =>
        repeat(isFinished, this.tally, async () => {
          await rest(BETWEEN_CHANGES_MS);
          if (this.#program.isUp) await this.#change(writer, rules);
        }),
      ),
    );
  }

  async #change(writer: number, rules: Map<string, Known>): Promise<void> {
    const settled = [...rules.values()].filter(({ openMode, mayBeGone }) => !openMode && !mayBeGone);
    const known = settled.length === 0 ? undefined : this.#random.pick(settled);
    const choice = this.#random.below(10);
    if (known === undefined || (choice < 4 && rules.size < MAX_RULES)) await this.#create(writer, rules);
    else if (choice < 8) await this.#patch(writer, known);
    else await this.#delete(writer, rules, known);
    this.tally.right++;
  }

  async #create(writer: number, rules: Map<string, Known>): Promise<void> {
    const name = `rule-${this.#names++}`;
    this.#open.add(name);
    const sensitivities = { profile_sensitivity: 'low', rate_sensitivity: 'low', burst_sensitivity: 'low' };
    const body = { scope: 'global', name, mode: 'enabled', ...sensitivities };
    const rule = await this.#send<Rule>(writer, { method: 'POST', body });
    this.#open.delete(name);
    rules.set(rule.id, { rule });
  }

  async #patch(writer: number, known: Known): Promise<void> {
    const mode = this.#random.pick(['enabled', 'monitoring', 'disabled'] as const);
    known.openMode = mode;
    known.rule = await this.#send<Rule>(writer, { method: 'PATCH', id: known.rule.id, body: { mode } });
    delete known.openMode;
    if (known.rule.mode !== mode) this.tally.isWrong('an acknowledged change was not made', known);
  }

  async #delete(writer: number, rules: Map<string, Known>, known: Known): Promise<void> {
    known.mayBeGone = true;
    await this.#send(writer, { method: 'DELETE', id: known.rule.id });
    rules.delete(known.rule.id);
  }

  async #send<T>(writer: number, { method, id, body }: Asked): Promise<T> {
    const path = `client/v4/accounts/chaos-${writer}/${FOLDER}${id === undefined ? '' : `/${id}`}`;
    const response = await fetch(`${this.#program.url}/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const { success, result } = (await response.json()) as { success: boolean; result: T };
    if (!success) throw new Error(`HTTP status ${response.status}`);
    return result;
  }

  /**
   * Compares the stored rules with the acknowledged ones; unacknowledged changes may be present or not. No writer is
   * active during the check.
   */
  async check(): Promise<void> {
    for (const [writer, rules] of this.#known.entries()) {
      const stored = new Map(
        (await this.#send<Rule[]>(writer, { method: 'GET' })).map((rule) => [rule.id, rule]),
      );
      for (const [id, known] of rules) this.#checkRule(rules, known, stored.get(id));
      for (const [id, rule] of stored) {
        if (rules.has(id)) continue;
        if (!this.#open.delete(rule.name)) this.tally.isWrong('a rule exists that no writer created', rule);
        rules.set(id, { rule });
      }
    }
  }

  #checkRule(rules: Map<string, Known>, known: Known, now: Rule | undefined): void {
    const { rule, openMode, mayBeGone } = known;
    if (now === undefined) {
      rules.delete(rule.id);
      if (!mayBeGone) this.tally.isWrong('an acknowledged rule is lost', rule);
      return;
    }
    const isSame = JSON.stringify(now) === JSON.stringify(rule);
    if (!isSame && now.mode !== openMode)
      this.tally.isWrong('an acknowledged change is lost', { rule, now, openMode });
    rules.set(rule.id, { rule: now });
  }
}
