import { computed } from '@preact/signals';
import { useSearch } from 'wouter-preact';
import { ATTACKS_PER_PAGE } from '../../api/account.ts';
import type { AttackSummary } from '../../api/types.ts';
import { currentAttacks } from '../../attackSign.ts';
import { live, unknownSince } from '../../live.ts';
import { isNotifying, obstacle, setNotifying } from '../../notifications.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { Choice, useChoice } from '../../ui/form/choice.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { Pages } from '../../ui/pages.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { formatDuration, Time } from '../../ui/value/time.tsx';
import { UnknownSince } from '../../ui/value/unknownSince.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { NoGuard } from '../noGuard.tsx';
import { isCurrent } from './current.ts';
import { useAttacks } from './readPage.ts';
import { attackDurationMs, locationText, usersText, zonesText } from './texts.ts';

const DAY_MS = 86_400_000;
const SPANS = [
  ['1', 'last 24 hours'],
  ['7', 'last 7 days'],
  ['', 'last 90 days'],
] as const;
const ZONES_NAMED = 2;

/** Ids of the active attacks at this guard. When one begins or ends, the list of attacks is read again. */
const openAttacks = computed(() => (live.value?.guard?.attacks ?? []).map(({ id }) => id).join());

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
    cell: (attack) =>
      isCurrent(attack, live.value) ? (
        <span class="look state">▲ active</span>
      ) : (
        <span class="quiet">
          {attack.state === 'ended' ? (
            'ended'
          ) : (
            <>
              last seen <Time at={attack.last_seen_on} form="clock" />
            </>
          )}
        </span>
      ),
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
  const days = useChoice('days', SPANS);
  const since = days === '' ? undefined : new Date(Date.now() - Number(days) * DAY_MS).toISOString();
  const reads = useAttacks({ page, since }, [page, days, openAttacks.value]);
  const { value, failure } = reads;
  if (failure?.status === 404) return <NoGuard />;
  // The live stream has newer figures of attacks at this guard than the list.
  const own = new Map(live.value?.guard?.attacks.map((attack) => [attack.id, attack]));
  const shown = value?.result.map((attack) => ({ ...attack, ...own.get(attack.id) })) ?? [];
  return (
    <div class="page">
      <div class="head">
        {unknownSince.value ? (
          <UnknownSince since={unknownSince.value} />
        ) : (
          <h1>{value === undefined ? 'Attacks' : headline(value.info.total_count ?? 0, days, shown)}</h1>
        )}
        <Choice name="days" title="Period" isTitleHidden options={SPANS} />
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
          rows={shown}
          keyOf={({ id }) => id}
        />
      )}
      {value !== undefined && (value.info.total_pages ?? 1) > 1 && (
        <Pages
          newer={['Newer', page > 1 ? { page: String(page - 1) } : undefined]}
          older={['Older', page < (value.info.total_pages ?? 1) ? { page: String(page + 1) } : undefined]}
        >
          <span class="quiet">
            {(page - 1) * ATTACKS_PER_PAGE + 1} to {(page - 1) * ATTACKS_PER_PAGE + value.result.length} of{' '}
            {value.info.total_count}
          </span>
        </Pages>
      )}
    </div>
  );
}

function NotifySwitch() {
  const isOn = isNotifying.value;
  return (
    <p class="notify">
      Notifications of new attacks in this browser, while a tab is open:{' '}
      {obstacle.value === undefined ? (
        <>
          <strong>{isOn ? 'on' : 'off'}</strong>{' '}
          <button type="button" onClick={() => void setNotifying(!isOn)}>
            {isOn ? 'Switch off' : 'Switch on'}
          </button>
        </>
      ) : (
        <span class="look">! not possible, {obstacle.value}.</span>
      )}
    </p>
  );
}

function headline(total: number, days: string, shown: readonly AttackSummary[]): string {
  const elsewhere = shown.filter((attack) => isCurrent(attack, live.value));
  const lasting = new Set([...currentAttacks.value, ...elsewhere].map(({ id }) => id)).size;
  const span = SPANS.find(([value]) => value === days)?.[1];
  return `Attacks in the ${span}: ${total || 'none'}${lasting > 0 ? ` (${lasting} active)` : ''}.`;
}
