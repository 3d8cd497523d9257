import { computed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { ATTACKS_PER_PAGE } from '../../api/guard.ts';
import type { AttackSummary } from '../../api/types.ts';
import { live, refreshPeriod, unknownSince } from '../../live.ts';
import { goTo } from '../../navigate.ts';
import { account } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { formatDuration, Time } from '../../ui/value/time.tsx';
import { UnknownSince } from '../../ui/value/unknownSince.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { NotifySwitch } from './notify.tsx';
import { FLEET_MS, readPage } from './readPage.ts';
import { attackDurationMs, locationText, usersText, zonesText } from './texts.ts';

const DAY_MS = 86_400_000;
const SPANS = [
  { name: 'last 24 hours', days: '1' },
  { name: 'last 7 days', days: '7' },
  { name: 'last 90 days', days: '' },
] as const;
const ZONES_NAMED = 2;

/** Ids of the active attacks at this guard. When one begins or ends, the list of attacks is read again. */
const openAttacks = computed(() => (live.value?.guard?.attacks ?? []).map(({ id }) => id).join());

/** Number that changes each time that other guards may have reported their attacks. */
const fleetTurn = computed(() => refreshPeriod(FLEET_MS));

const placeColumn: Column<AttackSummary> = {
  title: 'Seen at',
  cell: (attack) => <UntrustedText text={locationText(attack) ?? ''} />,
};

const columns: readonly Column<AttackSummary>[] = [
  {
    title: 'Start',
    cell: ({ id, started_on }) => (
      <Link to={`/attacks/${id}`}>
        <Time at={started_on} />
      </Link>
    ),
  },
  {
    title: 'Zones',
    cell: (attack) => <UntrustedText text={zonesText(attack, ZONES_NAMED)} />,
  },
  {
    title: 'State',
    cell: ({ state }) =>
      state === 'active' ? <span class="look state">▲ active</span> : <span class="quiet">ended</span>,
  },
  { title: 'Duration', isNumber: true, cell: (attack) => formatDuration(attackDurationMs(attack)) },
  { title: 'Peak queries/s', isNumber: true, cell: ({ peak }) => formatNumber(peak.queries) },
  { title: 'Queries', isNumber: true, cell: ({ queries }) => formatNumber(queries) },
  { title: 'Limited', isNumber: true, cell: ({ limited_share }) => formatPercent(limited_share) },
  { title: 'Users', cell: (attack) => usersText(attack) },
];

export function AttackList() {
  const asked = new URLSearchParams(useSearch());
  const page = Math.max(1, Number(asked.get('page') ?? 1) || 1);
  const days = asked.get('days') ?? '';
  const since = days === '' ? undefined : new Date(Date.now() - Number(days) * DAY_MS).toISOString();
  const isOfFleet = useSignal(false);
  const reads = useLoaded(
    () => readPage({ page, since }),
    [page, days, account.value, openAttacks.value, isOfFleet.value ? fleetTurn.value : 0],
  );
  const { value } = reads.loaded.value;
  useEffect(() => {
    isOfFleet.value = value?.isOfFleet ?? false;
  }, [isOfFleet, value]);
  const show = (query: Record<string, string>) => goTo(`/attacks?${new URLSearchParams(query)}`);
  return (
    <div class="page">
      <div class="head">
        {unknownSince.value ? (
          <UnknownSince since={unknownSince.value} />
        ) : (
          <h1>
            {value === undefined ? 'Attacks' : headline(value.info.total_count ?? 0, days, value.result)}
          </h1>
        )}
        <label class="span-choice">
          <span class="unseen">Period</span>
          <select
            value={days}
            onChange={({ currentTarget }) =>
              show(currentTarget.value === '' ? {} : { days: currentTarget.value })
            }
          >
            {SPANS.map((span) => (
              <option key={span.days} value={span.days}>
                {span.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <NotifySwitch />
      <LoadState of={reads} what="the attacks" />
      {value?.result.length === 0 && (
        <EmptyState title="No attacks in this period">
          An attack is listed as soon as the guard detects it, and kept for 90 days.
        </EmptyState>
      )}
      {value !== undefined && value.result.length > 0 && (
        <Table
          caption="Attacks, newest first"
          isWide={value.isOfFleet}
          columns={value.isOfFleet ? [...columns.slice(0, 2), placeColumn, ...columns.slice(2)] : columns}
          rows={value.result}
          keyOf={({ id }) => id}
        />
      )}
      {value !== undefined && (value.info.total_pages ?? 1) > 1 && (
        <nav class="pages" aria-label="Pages of the list">
          <button
            type="button"
            disabled={page <= 1}
            onClick={() => show({ ...Object.fromEntries(asked), page: String(page - 1) })}
          >
            Newer
          </button>
          <span class="quiet">
            {(page - 1) * ATTACKS_PER_PAGE + 1} to {(page - 1) * ATTACKS_PER_PAGE + value.result.length} of{' '}
            {value.info.total_count}
          </span>
          <button
            type="button"
            disabled={page >= (value.info.total_pages ?? 1)}
            onClick={() => show({ ...Object.fromEntries(asked), page: String(page + 1) })}
          >
            Older
          </button>
        </nav>
      )}
    </div>
  );
}

function headline(total: number, days: string, shown: readonly AttackSummary[]): string {
  const elsewhere = shown.flatMap(({ id, state }) => (state === 'active' ? id : []));
  const lasting = new Set([...openAttacks.value.split(','), ...elsewhere].filter((id) => id !== '')).size;
  const span = SPANS.find((one) => one.days === days)?.name ?? 'that time';
  const all = total === 0 ? 'No attack' : total === 1 ? 'One attack' : `${total} attacks`;
  return `${all} in the ${span}${lasting > 0 ? `; ${lasting === 1 ? 'one is active' : `${lasting} are active`}` : ''}.`;
}
