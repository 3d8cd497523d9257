import { useMemo } from 'preact/hooks';
import { ruleCalls } from '../../api/account.ts';
import type { Counts, Rule } from '../../api/types.ts';
import { hasGuard, ruleInForceId } from '../../live.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { useSearchField } from '../../ui/form/searchField.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted, formatNumber } from '../../ui/value/quantity.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { type Hits, useHits } from './hits.ts';
import { ModeSelect } from './modeSelect.tsx';
import { bySpecificity, scopeText, supersededIn } from './texts.ts';

export function RuleList() {
  const reads = useLoaded(ruleCalls.list, [account.value, ruleCalls.version.value]);
  const { field, text, shown } = useSearchField('Search by scope or mode', 'Scope or mode');
  const { value } = reads;
  const hits = useHits(value?.result);
  const { rules, columns } = useMemo(() => {
    const sorted = bySpecificity(value?.result ?? []);
    return { rules: sorted, columns: columnsFor(supersededIn(sorted), hits) };
  }, [value, hits]);
  return (
    <div class="page rule-list">
      <div class="head">
        <h1>{value === undefined ? 'Rules' : headline(rules)}</h1>
        <div class="actions">
          {field}
          {may('dns_protection:write') && (
            <Link to="/rules/new" class="button primary">
              New rule
            </Link>
          )}
        </div>
      </div>
      <LoadState of={reads} what="the rules" />
      {value !== undefined && rules.length === 0 && <NoRule />}
      {rules.length > 0 && (
        <Table
          caption="Rules by scope, most specific first, or in the order of a column"
          sort=""
          columns={columns}
          rows={rules}
          keyOf={({ id }) => id}
          isMarked={({ id }) => id === ruleInForceId.value}
          isMatch={(rule) => `${scopeText(rule)} ${rule.mode}`.toLowerCase().includes(text)}
          noMatch={
            <>
              No rule has “<UntrustedText text={shown} />” in its scope or mode.
            </>
          }
        />
      )}
    </div>
  );
}

function headline(rules: readonly Rule[]): string {
  if (rules.length === 0) return 'No rules.';
  const inForce = rules.find(({ id }) => id === ruleInForceId.value);
  const count = counted(rules.length, 'rule');
  if (!hasGuard.value) return `${count}.`;
  if (inForce === undefined) return `${count}. In force here: none, every query passes unless it is denied.`;
  return `${count}. In force here: the rule for ${scopeText(inForce)}, ${inForce.mode}.`;
}

const queriesOf = (counts: Counts | undefined): number =>
  counts === undefined
    ? -1
    : counts.passed + counts.paid + counts.would_drop + counts.dropped + counts.truncated;

function columnsFor(superseded: ReadonlySet<string>, hits: Hits | undefined): readonly Column<Rule>[] {
  return [
    {
      title: 'Scope',
      sortKey: scopeText,
      cell: (rule) => (
        <>
          <Link to={`/rules/${rule.id}`} text={scopeText(rule)} />
          {rule.scope === 'global' && rule.name.toLowerCase() !== 'global' && (
            <span class="quiet">
              {' '}
              <UntrustedText text={rule.name} />
            </span>
          )}
          {rule.id === ruleInForceId.value && <span class="tag">in force here</span>}
          {superseded.has(rule.id) && (
            <span class="look"> ! overridden by a later rule for the same scope</span>
          )}
        </>
      ),
    },
    { title: 'Mode', sortKey: ({ mode }) => mode, cell: (rule) => <ModeSelect rule={rule} /> },
    {
      title: 'Profile, rate, burst',
      cell: ({ profile_sensitivity, rate_sensitivity, burst_sensitivity }) =>
        `${profile_sensitivity.replace('_', ' ')}, ${rate_sensitivity}, ${burst_sensitivity}`,
    },
    {
      title: 'Queries, 1\u00a0h',
      isNumber: true,
      sortKey: ({ id }) => queriesOf(hits?.get(id)),
      cell: ({ id }) => {
        if (hits === undefined) return <span class="quiet">…</span>;
        const counts = hits.get(id);
        if (counts !== undefined) return formatNumber(queriesOf(counts));
        return <span class="quiet">{hits.has(id) ? 'in force' : 'not in force'}</span>;
      },
    },
    { ...timeColumn('Changed', ({ modified_on }: Rule) => modified_on), isNumber: true },
  ];
}

function NoRule() {
  const id = account.value;
  return (
    <EmptyState
      title="No rule yet: every query passes unless it is denied"
      lines={[
        `rules="${location.origin}/client/v4/accounts/${id}/network/advanced_dns_protection/configs/dns_protection/rules"`,
        'curl "$rules" -H "Authorization: Bearer $FLOODGATE_TOKEN" --data \\',
        `  '{"scope":"global","name":"global","mode":"monitoring","profile_sensitivity":"low","rate_sensitivity":"medium","burst_sensitivity":"medium"}'`,
      ].join('\n')}
    >
      A rule in mode <code>monitoring</code> drops no queries and shows what it would drop.{' '}
      {may('dns_protection:write') ? (
        <>
          <Link to="/rules/new">Create one here</Link>, or in a shell:
        </>
      ) : (
        'A token with write permission can create one:'
      )}
    </EmptyState>
  );
}
