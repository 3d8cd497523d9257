import { isMap, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml';
import { InvalidRule, isAccountId, type NewRule, type Rule, ruleFormat, targetOf } from '../index.ts';

export interface RuleFile {
  /** Account that the rules belong to; undefined if the file names none. */
  readonly account: string | undefined;
  readonly rules: readonly NewRule[];
}

/** The rule file is invalid. The message contains all faults with their line numbers. */
export class RuleFileError extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'RuleFileError';
  }
}

/** Parses a rule file: YAML or JSON with a list `rules` and an optional `account`. Throws `RuleFileError`. */
export function readRuleFile(text: string, fileName: string, format = ruleFormat): RuleFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (node: unknown) =>
    `${fileName}:${lines.linePos((node as Node | null)?.range?.[0] ?? 0).line || 1}`;
  if (document.errors.length > 0)
    throw new RuleFileError(document.errors.map((error) => `${fileName}: ${error.message}`));

  const root = document.contents;
  if (!isMap(root)) throw new RuleFileError([`${at(root)}: expected "rules:" with a list below it`]);
  const faults: string[] = [];
  for (const { key } of root.items)
    if (!['account', 'rules'].includes(String(key)))
      faults.push(`${at(key)}: ${key} is unknown; allowed: account, rules`);

  const list = root.get('rules', true);
  if (!isSeq(list)) throw new RuleFileError([...faults, `${at(list ?? root)}: rules must be a list`]);
  const linesOfTargets = new Map<string, string>();
  const rules = list.items.flatMap((item): NewRule[] => {
    try {
      const rule = format.checkNewRule((item as Node).toJS(document)); // items of a list are nodes
      const earlier = linesOfTargets.get(targetOf(rule));
      if (earlier === undefined) linesOfTargets.set(targetOf(rule), at(item));
      else faults.push(`${at(item)}: ${sameTarget(rule, earlier)}`);
      return [rule];
    } catch (error) {
      // The YAML library throws a ReferenceError if aliases expand to far more than the file contains.
      if (error instanceof ReferenceError) {
        const isBomb = error.message.startsWith('Excessive alias count');
        const reason = isBomb ? 'its aliases (*name) expand to an excessive size' : error.message;
        faults.push(`${at(item)}: ${reason}; write the rule out`);
        return [];
      }
      if (!(error instanceof InvalidRule)) throw error;
      faults.push(...error.faults.map((fault) => `${at(item)}: ${fault.message}`));
      return [];
    }
  });

  const account = root.get('account');
  if (account !== undefined && !(typeof account === 'string' && isAccountId(account)))
    faults.push(
      `${at(root.get('account', true))}: account must be 1 to 32 letters, digits, _ and -, in quotes if all digits`,
    );
  if (faults.length > 0) throw new RuleFileError(faults);
  return { account: typeof account === 'string' ? account : undefined, rules };
}

function sameTarget({ scope, name }: NewRule, earlier: string): string {
  const target = scope === 'global' ? 'all global rules have one target' : `${scope} ${name}`;
  return `the target equals that of the rule at ${earlier} (${target}), and only one of them would be in force; remove one`;
}

/**
 * Formats the rules of an account as a rule file. Rules that another rule overrides become comments, so applying the
 * file deletes them.
 */
export function formatRuleFile(account: string, rules: readonly Rule[], format = ruleFormat): string {
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
  const text = stringify({ account, rules: counting });
  if (superseded === undefined || superseded.length === 0) return text;
  const comment = stringify(superseded).trimEnd().replaceAll(/^/gm, '# ');
  return `${text}# Without effect, because a rule above with the same target was modified later; apply deletes these:\n${comment}\n`;
}
