import { isMap, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml';
import { InvalidRule, isAccountId, type NewRule, type Rule, ruleFormat } from '../index.ts';

/** What a file of rules says. */
export interface RuleFile {
  /** The account that the rules are for, where the file names one. */
  readonly account: string | undefined;
  readonly rules: readonly NewRule[];
}

/** A file that says nothing clear: every fault with its line. */
export class RuleFileError extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'RuleFileError';
  }
}

/** Reads YAML (or JSON, which is YAML): `rules`, a list, and `account`, optional. Throws `RuleFileError`. */
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
      faults.push(`${at(key)}: ${key} is unknown; there are account and rules`);

  const list = root.get('rules', true);
  if (!isSeq(list)) throw new RuleFileError([...faults, `${at(list ?? root)}: rules must be a list`]);
  const rules = list.items.flatMap((item): NewRule[] => {
    try {
      return [format.checkNewRule((item as Node).toJS(document))]; // items of a list are nodes
    } catch (error) {
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

/** The rules of an account as such a file: reading it back and planning it finds nothing to do. */
export function formatRuleFile(account: string, rules: readonly Rule[], format = ruleFormat): string {
  return stringify({ account, rules: rules.map((rule) => format.newRuleOf(rule)) });
}
