import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import type { Change } from '../../api/audit.ts';
import { csvOf } from '../../csv.ts';
import { live } from '../../live.ts';
import { goTo } from '../../navigate.ts';
import { account } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { pluralOf } from '../../ui/quantity.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TextInput } from '../../ui/textInput.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { type ChangePage, readChanges } from './readChanges.ts';
import {
  actorOf,
  CSV_HEADINGS,
  csvRowOf,
  isMatch,
  KINDS,
  pathOfSubject,
  subjectOf,
  summaryOf,
  verbOf,
} from './texts.ts';

const DAY_MS = 86_400_000;
const PERIODS = { '': 'any time', 1: 'last 24 hours', 7: 'last 7 days', 30: 'last 30 days' } as const;

export function ChangeList() {
  const asked = new URLSearchParams(useSearch());
  const days = asked.get('days') ?? '';
  const filter = { kind: asked.get('kind') ?? '', text: asked.get('text') ?? '' };
  const cursor = asked.get('cursor') ?? undefined;
  const { loaded, again } = useLoaded(() => {
    const since = Number(days) > 0 ? new Date(Date.now() - Number(days) * DAY_MS).toISOString() : undefined;
    return readChanges({ ...filter, since, cursor });
  }, [account.value, days, filter.kind, filter.text, cursor]);
  const { value, failure } = loaded.value;
  const isFiltered = days !== '' || filter.kind !== '' || filter.text !== '';
  return (
    <div class="page activity">
      <div class="head">
        <h1>{value === undefined ? 'Activity' : <Headline page={value} isFiltered={isFiltered} />}</h1>
        <div class="actions">
          {cursor === undefined && (
            <NewChanges
              newestAt={value?.newestAt}
              isShown={(change) => isMatch(change, filter)}
              show={again}
            />
          )}
          <Copy
            text={() => csvOf([CSV_HEADINGS, ...(value?.changes ?? []).map(csvRowOf)])}
            label="Copy as CSV"
          />
        </div>
      </div>
      <Filters key={filter.text} days={days} kind={filter.kind} text={filter.text} />
      {failure && <ErrorBox failure={failure} retry={again} />}
      {value?.changes.length === 0 &&
        (isFiltered || cursor !== undefined ? (
          <p class="quiet">
            {value.next === undefined ? 'No change matches.' : 'No newer change matches; older ones may.'}{' '}
            <Link to="/activity">Show all changes</Link>
          </p>
        ) : (
          <EmptyState title="No changes yet" lines={`floodgate audit --account ${account.value}`}>
            Every change of a rule, an access list or a zone policy is listed here, with its author. In a
            shell:
          </EmptyState>
        ))}
      {value !== undefined && value.changes.length > 0 && (
        <Table
          caption="Changes, newest first"
          columns={columns}
          rows={value.changes}
          keyOf={({ at }) => at}
        />
      )}
      {value !== undefined && (cursor !== undefined || value.next !== undefined) && (
        <nav class="pages" aria-label="Pages of the list">
          <button type="button" disabled={cursor === undefined} onClick={() => show({ cursor: '' })}>
            Newest
          </button>
          <button
            type="button"
            disabled={value.next === undefined}
            onClick={() => show({ cursor: value.next ?? '' })}
          >
            Older
          </button>
        </nav>
      )}
      <p class="quiet">
        Changes of tokens are shown by <code>floodgate audit</code>.
      </p>
    </div>
  );
}

/** Changes parameters of the URL; an empty text removes one. */
function show(change: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(location.search);
  query.delete('account');
  for (const [name, text] of Object.entries(change)) {
    if (text === '') query.delete(name);
    else query.set(name, text);
  }
  goTo(`/activity${query.size > 0 ? `?${query}` : ''}`);
}

function Headline({ page, isFiltered }: { readonly page: ChangePage; readonly isFiltered: boolean }) {
  const [newest] = page.changes;
  if (newest === undefined) return <>{isFiltered ? 'No matching change.' : 'No change.'}</>;
  return (
    <>
      {isFiltered ? 'Newest match: ' : 'Newest change: '}
      <UntrustedText text={`${actorOf(newest).name} ${verbOf(newest)} ${subjectOf(newest)}`} />.
    </>
  );
}

interface NewChangesProps {
  readonly newestAt: string | undefined;
  readonly isShown: (change: Change) => boolean;
  readonly show: () => void;
}

/** Button that shows the changes since the list was read. They are not added by themselves, so that no row moves. */
function NewChanges({ newestAt, isShown, show: showThem }: NewChangesProps) {
  const found = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const changes = (live.value?.changes ?? []).filter(isShown).map(({ at }) => at);
    if (changes.length > 0) found.value = new Set([...found.peek(), ...changes]);
  }, [live.value]);
  const count = [...found.value].filter((at) => newestAt !== undefined && at > newestAt).length;
  return (
    <button type="button" class={count === 0 ? 'new-changes away' : 'new-changes'} onClick={showThem}>
      Show {count} new {pluralOf(count, 'change', 'changes')}
    </button>
  );
}

interface FiltersProps {
  readonly days: string;
  readonly kind: string;
  readonly text: string;
}

function Filters({ days, kind, text }: FiltersProps) {
  const sought = useSignal(text);
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        show({ text: sought.value.trim(), cursor: '' });
      }}
    >
      <label>
        Actor, address or object
        <TextInput
          type="search"
          name="text"
          data-search
          placeholder="Press Enter to search  ( / )"
          text={sought}
        />
      </label>
      <label>
        Changes of
        <select
          name="kind"
          value={kind}
          onChange={({ currentTarget }) => show({ kind: currentTarget.value, cursor: '' })}
        >
          <option value="">everything</option>
          {Object.entries(KINDS).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Period
        <select
          name="days"
          value={days}
          onChange={({ currentTarget }) => show({ days: currentTarget.value, cursor: '' })}
        >
          {Object.entries(PERIODS).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

const columns: readonly Column<Change>[] = [
  {
    title: 'Time',
    cell: ({ at }) => (
      <Link to={`/activity/${at}`}>
        <Time at={at} />
      </Link>
    ),
  },
  {
    title: 'Actor',
    cell: (change) => {
      const { name, note } = actorOf(change);
      return (
        <span>
          <Link to={`/activity?text=${encodeURIComponent(name)}`}>
            <UntrustedText text={name} />
          </Link>{' '}
          <span class="quiet">
            <UntrustedText text={note} />
          </span>
        </span>
      );
    },
  },
  {
    title: 'Change',
    cell: (change) => {
      const path = pathOfSubject(change);
      return (
        <span>
          {verbOf(change)}{' '}
          {path === undefined ? (
            <UntrustedText text={subjectOf(change)} />
          ) : (
            <Link to={path}>
              <UntrustedText text={subjectOf(change)} />
            </Link>
          )}
        </span>
      );
    },
  },
  {
    title: 'Values',
    cell: (change) => (
      <span class="quiet">
        <UntrustedText text={summaryOf(change)} />
      </span>
    ),
  },
];
