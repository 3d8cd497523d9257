import { isMap, isSeq, type Node, stringify } from 'yaml';
import { NestingError, parseYaml } from '../../platform/nesting/index.ts';
import {
  checkNewZonePolicy,
  describeValue,
  InvalidRule,
  isAccountId,
  MAX_RULES_PER_ACCOUNT,
  MAX_ZONE_POLICIES,
  type NewRule,
  type Rule,
  ruleFormat,
  shortSettingsOf,
  targetOf,
  type ZonePolicy,
  type ZonePolicySettings,
} from '../index.ts';

export interface RuleFile {
  /** Account that the rules belong to; undefined if the file names none. */
  readonly account: string | undefined;
  readonly rules: readonly NewRule[];
  /** Zone policies; undefined if the file has no list of them, so that the policies of the account stay unchanged. */
  readonly zones: readonly ZonePolicySettings[] | undefined;
}

/** The rule file is invalid. The message contains all faults with their line numbers. */
export class RuleFileError extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'RuleFileError';
  }
}

const MEMBERS = ['account', 'rules', 'zones'];

/**
 * Parses a rule file: YAML or JSON with a list `rules`, and optionally a list `zones` and an `account`. Throws
 * `RuleFileError`.
 */
export function readRuleFile(text: string, fileName: string, format = ruleFormat): RuleFile {
  const { document, lines } = parsed(text, fileName);
  const at = (node: unknown) =>
    `${fileName}:${lines.linePos((node as Node | null)?.range?.[0] ?? 0).line || 1}`;
  if (document.errors.length > 0)
    throw new RuleFileError(document.errors.map((error) => `${fileName}: ${error.message}`));

  const root = document.contents;
  if (!isMap(root)) throw new RuleFileError([`${at(root)}: expected "rules:" with a list below it`]);
  const faults: string[] = [];
  for (const { key } of root.items)
    if (!MEMBERS.includes(String(key)))
      faults.push(`${at(key)}: ${key} is unknown; allowed: ${MEMBERS.join(', ')}`);

  const source = { document, at, faults };
  const rules = readList(root.get('rules', true), source, {
    name: 'rules',
    maxItems: MAX_RULES_PER_ACCOUNT,
    root,
    check: (item) => format.checkNewRule(item),
    identityOf: targetOf,
    repeated: sameTarget,
  });
  const zones = root.has('zones')
    ? readList(root.get('zones', true), source, {
        name: 'zones',
        maxItems: MAX_ZONE_POLICIES,
        root,
        check: checkNewZonePolicy,
        identityOf: ({ zone }) => zone,
        repeated: ({ zone }, earlier) => `the zone ${zone} already has a policy at ${earlier}; remove one`,
      })
    : undefined;

  const account = root.get('account');
  if (account !== undefined && !(typeof account === 'string' && isAccountId(account)))
    faults.push(
      `${at(root.get('account', true))}: account must be 1 to 32 letters, digits, _ and -, in quotes if all digits; got ${describeValue(account)}`,
    );
  if (faults.length > 0) throw new RuleFileError(faults);
  return { account: typeof account === 'string' ? account : undefined, rules, zones };
}

function parsed(text: string, fileName: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof NestingError)) throw error;
    throw new RuleFileError([`${fileName}:${error.line}: ${error.message}`]);
  }
}

interface Source {
  readonly document: ReturnType<typeof parseYaml>['document'];
  /** Returns the file name and line of a node. */
  readonly at: (node: unknown) => string;
  /** Faults are added to this list. */
  readonly faults: string[];
}

interface ListOf<Item> {
  readonly name: string;
  /** Maximum of an account. A longer list could not be applied as a whole. */
  readonly maxItems: number;
  /** Node whose line is reported if the list is missing. */
  readonly root: unknown;
  /** Returns the item that a value defines. Throws `InvalidRule`. */
  readonly check: (value: unknown) => Item;
  /** Returns a text that no two items of the list may share. */
  readonly identityOf: (item: Item) => string;
  readonly repeated: (item: Item, earlier: string) => string;
}

function readList<Item>(list: unknown, { document, at, faults }: Source, of: ListOf<Item>): Item[] {
  if (!isSeq(list)) throw new RuleFileError([...faults, `${at(list ?? of.root)}: ${of.name} must be a list`]);
  if (list.items.length > of.maxItems)
    faults.push(`${at(list)}: ${of.name} has ${list.items.length} entries; allowed: at most ${of.maxItems}`);
  const linesOf = new Map<string, string>();
  return list.items.flatMap((node): Item[] => {
    try {
      const value: unknown = (node as Node).toJS(document); // items of a list are nodes
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        faults.push(
          `${at(node)}: an entry of ${of.name} must be a map of fields; got ${describeValue(value)}`,
        );
        return [];
      }
      const item = of.check(value);
      const identity = of.identityOf(item);
      const earlier = linesOf.get(identity);
      if (earlier === undefined) linesOf.set(identity, at(node));
      else faults.push(`${at(node)}: ${of.repeated(item, earlier)}`);
      return [item];
    } catch (error) {
      // The YAML library throws a ReferenceError if aliases expand to far more than the file contains.
      if (error instanceof ReferenceError) {
        const isBomb = error.message.startsWith('Excessive alias count');
        const reason = isBomb ? 'its aliases (*name) expand to an excessive size' : error.message;
        faults.push(`${at(node)}: ${reason}; write the rule out`);
        return [];
      }
      if (!(error instanceof InvalidRule)) throw error;
      const fieldAt = (pointer = '') => (isMap(node) && node.get(pointer.slice(1), true)) || node;
      faults.push(...error.faults.map(({ pointer, message }) => `${at(fieldAt(pointer))}: ${message}`));
      return [];
    }
  });
}

function sameTarget({ scope, name }: NewRule, earlier: string): string {
  const target = scope === 'global' ? 'all global rules have one target' : `${scope} ${name}`;
  return `the target equals that of the rule at ${earlier} (${target}), and only one of them would be in force; remove one`;
}

/**
 * Formats the rules and zone policies of an account as a rule file. Rules that another rule overrides become comments,
 * so applying the file deletes them. Without zone policies, the file has no list of them.
 */
export function formatRuleFile({ account, rules, zones }: Exported, format = ruleFormat): string {
  const inForce = new Map<string, Rule>();
  for (const rule of rules) {
    const other = inForce.get(targetOf(rule));
    if (other === undefined || other.modified_on < rule.modified_on) inForce.set(targetOf(rule), rule);
  }
  const [counting, superseded] = [true, false].map((counts) =>
    rules
      .filter((rule) => (inForce.get(targetOf(rule)) === rule) === counts)
      .map((rule) => format.newRuleOf(rule)),
  );
  const policies = zones.map(shortSettingsOf);
  const text = stringify({ account, rules: counting, ...(policies.length > 0 && { zones: policies }) });
  if (superseded === undefined || superseded.length === 0) return text;
  const comment = stringify(superseded).trimEnd().replaceAll(/^/gm, '# ');
  return `${text}# Without effect, because a rule above with the same target was modified later; apply deletes these:\n${comment}\n`;
}

interface Exported {
  readonly account: string;
  readonly rules: readonly Rule[];
  readonly zones: readonly ZonePolicy[];
}
