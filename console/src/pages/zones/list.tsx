import { useMemo } from 'preact/hooks';
import { listAssessments, policyCalls } from '../../api/account.ts';
import type { ZoneAssessment, ZonePolicy } from '../../api/types.ts';
import { account, isGuarded, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { useSearchField } from '../../ui/form/searchField.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState, Reading } from '../../ui/loadState.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { type Loaded, useLoaded } from '../../ui/useLoaded.ts';
import { formatNumber } from '../../ui/value/quantity.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { ListButton } from '../lists/actions.tsx';
import { queryOf } from './settings.ts';
import { assessmentTexts, limitedShare, rateText, sensitivitiesText, zonesHeadline } from './texts.ts';

const REFRESH_MS = 10_000;

const hasArrived = ({ value, failure }: Loaded<unknown>): boolean =>
  value !== undefined || failure !== undefined;

export function ZoneList() {
  const policies = useLoaded(policyCalls.list, [account.value, policyCalls.version.value]);
  const assessments = useLoaded(listAssessments, [account.value, policyCalls.version.value], {
    everyMs: REFRESH_MS,
  });
  const { field, text } = useSearchField('Search by zone', 'Zone');
  const isMatch = ({ zone }: { readonly zone: string }) => zone.includes(text);
  const { value } = policies;
  const listed = value?.result;
  const assessed = assessments.value;
  const columns = useMemo(() => assessmentColumns(listed ?? []), [listed]);
  // Both tables appear together, so that the second one does not move.
  const isReady = hasArrived(policies) && hasArrived(assessments);
  return (
    <div class="page zone-list">
      <div class="head">
        <h1>{listed && assessed ? zonesHeadline(assessed, listed) : 'Zones'}</h1>
        <div class="actions">
          {field}
          {may('dns_protection:write') && (
            <Link to="/zones/new" class="button primary">
              New policy
            </Link>
          )}
        </div>
      </div>
      {isReady ? (
        <>
          <LoadState of={policies} what="the policies" />
          <LoadState of={assessments} what="the assessments" />
        </>
      ) : (
        <Reading what="the zones" />
      )}
      {isReady && listed?.length === 0 && <NoPolicy />}
      {isReady && listed !== undefined && listed.length > 0 && (
        <section>
          <h2>Policies</h2>
          <Table
            caption="Policies by zone, or in the order of a column"
            sort="zone"
            columns={policyColumns}
            rows={listed}
            keyOf={({ id }) => id}
            isMatch={isMatch}
            noMatch={NO_MATCH}
          />
        </section>
      )}
      {isReady && assessed && (
        <section>
          <h2>Assessments</h2>
          <p class="quiet">
            {isGuarded.value
              ? 'Shares of the queries that an enabled rule would limit, at the sensitivities in force. Without a rule, these are medium.'
              : 'This server has no guard for this account. The console of the server with the guard shows the assessments.'}
          </p>
          {isGuarded.value && assessed.length === 0 && <p>The guard has received no queries yet.</p>}
          {assessed.length > 0 && (
            <Table
              caption="Assessments by number of queries, the highest first"
              columns={columns}
              rows={assessed}
              keyOf={({ zone }) => zone}
              isMatch={isMatch}
              noMatch={NO_MATCH}
            />
          )}
        </section>
      )}
    </div>
  );
}

const NO_MATCH = 'No zone matches the search.';

const policyColumns: readonly Column<ZonePolicy>[] = [
  {
    title: 'Zone',
    sortKey: ({ zone }) => zone,
    cell: ({ id, zone, comment }) => (
      <span>
        <Link to={`/zones/${id}`} text={zone} /> <UntrustedText class="quiet" text={comment} />
      </span>
    ),
  },
  {
    title: 'Mode',
    sortKey: ({ mode }) => mode,
    cell: ({ mode }) => (
      <span class={mode === 'inherit' ? 'quiet state' : `mode state ${mode}`}>
        {mode === 'inherit' ? 'of the rule' : mode}
      </span>
    ),
  },
  {
    title: 'Judge by',
    cell: ({ judge_by, only_when_upstream_unhealthy }) =>
      `${judge_by}${only_when_upstream_unhealthy ? ', only while the servers are overloaded' : ''}`,
  },
  { title: 'Rate', sortKey: ({ rate }) => rate ?? -1, cell: rateText },
  { title: 'Sensitivities', cell: sensitivitiesText },
  { ...timeColumn('Changed', ({ modified_on }: ZonePolicy) => modified_on), isNumber: true },
];

function assessmentColumns(policies: readonly ZonePolicy[]): readonly Column<ZoneAssessment>[] {
  const byZone = new Map(policies.map(({ zone, id }) => [zone, id]));
  const byId = new Map(policies.map(({ zone, id }) => [id, zone]));
  return [
    {
      title: 'Zone',
      cell: ({ zone, policy }) => (
        <span>
          <UntrustedText text={zone} />
          {zone === '.' && <span class="quiet"> all other names</span>}
          {policy !== undefined && (
            <>
              {' '}
              <Link to={`/zones/${policy}`} class="caption">
                policy for <UntrustedText text={byId.get(policy) ?? policy} />
              </Link>
            </>
          )}
        </span>
      ),
    },
    {
      title: 'Assessment',
      cell: ({ zone, assessment, proposed, names, networks }) => {
        const { sign, text, class: className } = assessmentTexts[assessment];
        return (
          <span>
            <span class={className}>
              {sign} {text}
            </span>
            {proposed && `: ${rateText(proposed)}`}
            {proposed && may('dns_protection:write') && (
              <Link to={proposalPath(zone, queryOf(proposed), byZone.get(zone))} class="button">
                Set this rate<span class="unseen"> for {zone}</span>
              </Link>
            )}
            {names.length + networks.length > 0 && (
              <details>
                <summary>Limited names and networks</summary>
                {[...names, ...networks].map((value, i) => (
                  <div key={value}>
                    <UntrustedText text={value} />
                    <ListButton
                      list={i < names.length ? 'allowlist' : 'denylist'}
                      isName={i < names.length}
                      value={value}
                      comment={`Limited in ${zone}`}
                    />
                  </div>
                ))}
              </details>
            )}
          </span>
        );
      },
    },
    {
      title: 'Judged by',
      cell: ({ judged_by, profile_sensitivity, rate_sensitivity }) =>
        `${judged_by}; profile ${profile_sensitivity.replace('_', ' ')}, rate ${rate_sensitivity}`,
    },
    { title: 'Known names', isNumber: true, cell: ({ known_names }) => formatNumber(known_names) },
    { title: 'Queries, 24\u00a0h', isNumber: true, cell: ({ day }) => formatNumber(day.queries) },
    { title: 'Limited, 1\u00a0h', isNumber: true, cell: (zone) => limitedShare(zone, 'hour') },
    { title: 'Limited, 24\u00a0h', isNumber: true, cell: (zone) => limitedShare(zone, 'day') },
    { title: 'Limited, 7\u00a0d', isNumber: true, cell: (zone) => limitedShare(zone, 'week') },
  ];
}

const proposalPath = (zone: string, query: string, policy: string | undefined): string =>
  policy === undefined ? `/zones/new?zone=${encodeURIComponent(zone)}&${query}` : `/zones/${policy}?${query}`;

function NoPolicy() {
  return (
    <EmptyState
      title="No policies: the rule in force applies to all zones"
      lines="floodgate zones create --judge-by rate --rate 2000 bl.example.com"
    >
      A policy sets mode, limits and sensitivities of one zone.{' '}
      {may('dns_protection:write') ? (
        <>
          <Link to="/zones/new">Create one here</Link>, or in a shell:
        </>
      ) : (
        'A token with write permission can create one:'
      )}
    </EmptyState>
  );
}
