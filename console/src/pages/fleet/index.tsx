import { useMemo } from 'preact/hooks';
import { readFleet, ruleCalls } from '../../api/account.ts';
import { readHealth } from '../../api/server.ts';
import type { FleetInstance, Rule } from '../../api/types.ts';
import { live } from '../../live.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { scopeText } from '../rules/texts.ts';
import { fleetHeadline, isOutdated, placeText } from './texts.ts';

/** Guards send a heartbeat each 10 s. */
const REFRESH_MS = 10_000;

export function Fleet() {
  const reads = useLoaded(readFleet, [account.value], { everyMs: REFRESH_MS });
  const rules = useLoaded(ruleCalls.list, [account.value, ruleCalls.version.value]);
  const { value, failure } = reads;
  const guards = value?.result ?? [];
  const own = live.value?.guard?.instance;
  const known = rules.value?.result;
  const columns = useMemo(() => columnsOf(guards, known ?? [], own), [value, known, own]);
  const hasNoGuard = failure?.status === 404 || value?.result.length === 0;
  return (
    <div class="page">
      <h1>{value === undefined ? 'Fleet' : fleetHeadline(guards)}</h1>
      {!hasNoGuard && <LoadState of={reads} what="the guards" />}
      {hasNoGuard && (
        <EmptyState
          title="No guard of this account was seen in the last 7 days"
          lines={`floodgate start --role rules,guard --dns-account ${account.value} --dns-region WEUR --dns-datacenter AMS --dns-listen 0.0.0.0:53 --dns-servers 192.0.2.1:53`}
        >
          A guard enforces the rules of the account in front of DNS servers. Guards that share a database are
          listed here together. Start one:
        </EmptyState>
      )}
      {guards.length > 0 && (
        <Table
          caption="Guards"
          columns={columns}
          rows={guards}
          keyOf={({ id }) => id}
          isMarked={({ id }) => id === own}
          sort="location"
        />
      )}
      {may('health:read') && <ThisServer />}
    </div>
  );
}

function columnsOf(
  guards: readonly FleetInstance[],
  rules: readonly Rule[],
  own: string | undefined,
): readonly Column<FleetInstance>[] {
  const byId = new Map(rules.map((rule) => [rule.id, scopeText(rule)]));
  return [
    {
      title: 'Location',
      sortKey: placeText,
      cell: (guard) => (
        <span>
          <UntrustedText text={placeText(guard)} /> <code class="quiet">{guard.id.slice(0, 8)}</code>
          {guard.id === own && <span class="tag">this server</span>}
        </span>
      ),
    },
    {
      title: 'State',
      sortKey: ({ is_up }) => Number(is_up),
      cell: ({ is_up }) =>
        is_up ? <span class="well">● up</span> : <span class="look">▲ silent: no report for 30 s</span>,
    },
    timeColumn('Last seen', ({ last_seen_on }) => last_seen_on, 'clock'),
    {
      title: 'Rule in force',
      sortKey: ({ rule }) => (rule === undefined ? '' : (byId.get(rule.id) ?? rule.id)),
      cell: ({ rule, rule_since }) => (
        <span>
          {rule === undefined ? (
            'none: every query passes unless it is denied'
          ) : (
            <>
              <Link to={`/rules/${rule.id}`} text={byId.get(rule.id) ?? rule.id.slice(0, 8)} />{' '}
              <span class={`mode ${rule.mode}`}>{rule.mode}</span>
            </>
          )}{' '}
          <span class="quiet">
            since <Time at={rule_since} />
          </span>
        </span>
      ),
    },
    {
      title: 'Version',
      sortKey: ({ version }) => version,
      cell: (guard) => (
        <span class={isOutdated(guard, guards) ? 'look' : undefined}>
          {isOutdated(guard, guards) && '! '}
          <UntrustedText text={`${guard.version}, ${guard.data_plane}`} />
        </span>
      ),
    },
    timeColumn('Started', ({ started_on }) => started_on),
  ];
}

function ThisServer() {
  const reads = useLoaded(readHealth, []);
  const { value } = reads;
  if (value === undefined) return <LoadState of={reads} what="roles and versions of this server" />;
  const { roles, versions } = value.result;
  return (
    <p class="quiet">
      This server has the roles {roles.join(', ')} and the versions{' '}
      {Object.entries(versions)
        .map((version) => version.join(' '))
        .join(', ')}
      .
    </p>
  );
}
