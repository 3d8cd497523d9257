import type {
  Actor,
  AuditEntry,
  ListChange,
  RuleChange,
  States,
  TokenChange,
  ZoneChange,
  ZoneForgotten,
} from './audit.ts';
import type { RuleFormat } from './format/ruleFormat.ts';
import type { Rule } from './rule.ts';
import { type TokenSettingsView, tokenSettingsView } from './tokens/tokenView.ts';

type View<Entry extends States<unknown>, Subject = NonNullable<Entry['before']>> = Omit<
  Entry,
  'before' | 'after'
> & { readonly before?: Subject; readonly after?: Subject };

/** Audit entry in the form of the rules API, which omits a state that does not exist. */
export type AuditView =
  | View<RuleChange>
  | View<ListChange>
  | View<ZoneChange>
  | View<ZoneForgotten>
  | View<TokenChange, TokenSettingsView>;

/** Returns a function that converts an audit entry to the form of the rules API. */
export function auditFormatter(format: RuleFormat): (entry: AuditEntry) => AuditView {
  const ruleView = (rule: Rule): Rule => format.orderMembers(format.withDefaults(rule));
  return (entry) => {
    if ('rule' in entry) return withStates(entry, ruleView);
    if ('token' in entry) return withStates(entry, tokenSettingsView);
    return withStates<object, object>(entry, (subject) => subject);
  };
}

/** Returns an entry without the states that do not exist. */
const withStates = <Subject, Shown>(entry: Actor & States<Subject>, show: (subject: Subject) => Shown) => {
  const { before, after, ...change } = entry;
  return {
    ...change,
    ...(before !== null && { before: show(before) }),
    ...(after !== null && { after: show(after) }),
  } as AuditView; // the members of the entry, with states in the form of the API
};
