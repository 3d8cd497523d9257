import { isDeepStrictEqual } from 'node:util';
import type { Database, Key } from 'lmdb';
import {
  type AuditEntry,
  type AuditedToken,
  formatTimestamp,
  isValidAt,
  MAX_ENDED_TOKENS,
  type Rule,
  ruleFormat,
  type States,
  targetOf,
  wallClock,
  withoutHash,
} from '../../index.ts';
import { RulesEnvironment } from './environment.ts';

/**
 * Returns the differences between the stored records and those that the audit log yields when it is replayed, and
 * errors in counts and indexes. Can run while another process writes.
 */
export async function verifyRules(folder: string): Promise<string[]> {
  const environment = RulesEnvironment.open(folder, undefined, { isVerified: true });
  try {
    return problemsOf(environment);
  } finally {
    await environment.close();
  }
}

function problemsOf(environment: RulesEnvironment): string[] {
  const problems: string[] = [];
  const state = new Replay(problems);
  for (const { value } of environment.audit.getRange()) state.add(value);
  const rules = new Map(
    [...environment.rules.getRange()].map(({ key, value }) => [
      key.join('/'),
      ruleFormat.withDefaults(value),
    ]),
  );
  differences('rule', { expected: state.rules, held: rules }, problems);
  const tokens = new Map(
    [...environment.tokens.getRange()].map(({ value }) => [value.id, withoutHash(value)]),
  );
  differences('token', { expected: expectedTokens(state.tokens, tokens), held: tokens }, problems);
  const counts = new Map<string, number>();
  for (const { key } of environment.rules.getRange())
    counts.set(key[0] ?? '', (counts.get(key[0] ?? '') ?? 0) + 1);
  for (const { key, value } of environment.accounts.getRange())
    if (value.count !== (counts.get(key) ?? 0))
      problems.push(`account ${key} is recorded with ${value.count} rules but has ${counts.get(key) ?? 0}`);
  const targets = new Set([...environment.targets.getKeys()].map((key) => key.join('/')));
  for (const { key, value } of environment.rules.getRange())
    if (!targets.delete([key[0], targetOf(value), key[1]].join('/')))
      problems.push(`rule ${key.join('/')} is missing in the index of targets`);
  for (const target of targets) problems.push(`target ${target} has no rule`);
  addListProblems(environment, state.listEntries, problems);
  addZoneProblems(environment, state.zonePolicies, problems);
  return problems;
}

/** Returns the tokens of the audit log without ended ones that were removed because enough later ones remain. */
function expectedTokens(
  audited: ReadonlyMap<string, AuditedToken>,
  held: ReadonlyMap<string, AuditedToken>,
): ReadonlyMap<string, AuditedToken> {
  const now = formatTimestamp(wallClock());
  const ended = [...held.values()].filter((token) => !isValidAt(token, now));
  if (ended.length < MAX_ENDED_TOKENS) return audited;
  return new Map([...audited].filter(([id, token]) => held.has(id) || isValidAt(token, now)));
}

function addListProblems(
  environment: RulesEnvironment,
  expected: ReadonlyMap<string, unknown>,
  problems: string[],
): void {
  const entries = recordsOf(environment.listEntries);
  const held = new Map(entries.map(({ key, value }) => [key.join('/'), value]));
  differences('entry', { expected, held }, problems);
  const counts = new Map<string, number>();
  for (const { key } of entries) {
    const list = `${key[0]}/${key[1]}`;
    counts.set(list, (counts.get(list) ?? 0) + 1);
  }
  for (const { key, value } of recordsOf(environment.lists))
    for (const [list, said] of Object.entries(value.counts)) {
      const count = counts.get(`${key}/${list}`) ?? 0;
      if (said !== count)
        problems.push(`the ${list} of account ${key} is recorded with ${said} entries but has ${count}`);
    }
}

function addZoneProblems(
  environment: RulesEnvironment,
  expected: ReadonlyMap<string, unknown>,
  problems: string[],
): void {
  const policies = recordsOf(environment.zonePolicies);
  const held = new Map(policies.map(({ key, value }) => [key.join('/'), value]));
  differences('zone policy', { expected, held }, problems);
  const ids = new Map(recordsOf(environment.zoneIds).map(({ key, value }) => [key.join(' '), value]));
  const counts = new Map<string, number>();
  for (const { key, value } of policies) {
    const [account = '', id] = key;
    counts.set(account, (counts.get(account) ?? 0) + 1);
    const zone = `${account} ${value.zone}`;
    if (ids.get(zone) !== id) problems.push(`zone policy ${key.join('/')} is missing in the index of zones`);
    ids.delete(zone);
  }
  for (const [zone, id] of ids) problems.push(`zone ${zone} has no policy ${id}`);
  for (const { key, value } of recordsOf(environment.zoneStates))
    if (value.count !== (counts.get(key) ?? 0))
      problems.push(
        `account ${key} is recorded with ${value.count} zone policies but has ${counts.get(key) ?? 0}`,
      );
}

/** Returns all records of a database. A new store may lack it, because a read-only open creates no database. */
function recordsOf<V, K extends Key>(database: Database<V, K> | undefined): { key: K; value: V }[] {
  return [...(database?.getRange() ?? [])];
}

class Replay {
  readonly rules = new Map<string, unknown>();
  readonly listEntries = new Map<string, unknown>();
  readonly zonePolicies = new Map<string, unknown>();
  readonly tokens = new Map<string, AuditedToken>();
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  add(entry: AuditEntry): void {
    if ('rule' in entry)
      this.#step(this.rules, `${entry.account}/${entry.rule}`, {
        before: completed(entry.before),
        after: completed(entry.after),
      });
    else if ('list' in entry)
      this.#step(this.listEntries, `${entry.account}/${entry.list}/${entry.entry}`, entry);
    else if ('token' in entry) this.#step(this.tokens, entry.token, entry);
    else if (entry.action !== 'zone.forget')
      this.#step(this.zonePolicies, `${entry.account}/${entry.policy}`, entry);
  }

  #step<State>(states: Map<string, State>, key: string, { before, after }: States<State>): void {
    if (!isDeepStrictEqual(states.get(key) ?? null, before))
      this.#problems.push(`the audit log lacks a change of ${key}`);
    if (after === null) states.delete(key);
    else states.set(key, after);
  }
}

const completed = (rule: Rule | null): Rule | null => rule && ruleFormat.withDefaults(rule);

function differences(
  what: string,
  { expected, held }: Readonly<Record<'expected' | 'held', ReadonlyMap<string, unknown>>>,
  problems: string[],
): void {
  for (const [key, value] of held)
    if (!isDeepStrictEqual(value, expected.get(key)))
      problems.push(`${what} ${key} differs from its last state in the audit log`);
  for (const key of expected.keys()) if (!held.has(key)) problems.push(`${what} ${key} is missing`);
}
