import type { Change } from '../../api/types.ts';
import './activity.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { live } from '../../live.ts';
import { changeQuery } from '../../navigate.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { Choice, useChoice } from '../../ui/form/choice.tsx';
import { TextField } from '../../ui/form/fields.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { Pages } from '../../ui/pages.tsx';
import { SaveCsv } from '../../ui/table/saveCsv.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted } from '../../ui/value/quantity.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { Differences } from './differences.tsx';
import { readChanges } from './readChanges.ts';
import {
  actorOf,
  CSV_HEADINGS,
  csvRowOf,
  isMatch,
  KINDS,
  pathOfSubject,
  subjectOf,
  verbOf,
} from './texts.ts';

const DAY_MS = 86_400_000;
const PERIODS = [
  ['', 'any time'],
  ['1', 'last 24 hours'],
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
] as const;

export function Activity() {
  const asked = new URLSearchParams(useSearch());
  const days = useChoice('days', PERIODS);
  const filter = { kind: useChoice('kind', KINDS), text: asked.get('text') ?? '' };
  const cursor = asked.get('cursor') ?? undefined;
  const reads = useLoaded(() => {
    const since = days !== '' ? new Date(Date.now() - Number(days) * DAY_MS).toISOString() : undefined;
    return readChanges({ ...filter, since, cursor });
  }, [account.value, days, filter.kind, filter.text, cursor]);
  const { value } = reads;
  const [newest] = value?.changes ?? [];
  const isFiltered = days !== '' || filter.kind !== '' || filter.text !== '' || cursor !== undefined;
  return (
    <div class="page activity">
      <div class="head">
        <h1>
          {newest === undefined ? (
            'Activity'
          ) : (
            <UntrustedText
              text={`${isFiltered ? 'Newest match' : 'Newest change'}: ${actorOf(newest).name} ${verbOf(newest)} ${subjectOf(newest)}.`}
            />
          )}
        </h1>
        <div class="actions">
          {value !== undefined && cursor === undefined && (
            <NewChanges
              newestAt={value.newestAt}
              isShown={(change) => isMatch(change, filter)}
              show={reads.again}
            />
          )}
          <SaveCsv
            name="activity"
            rows={() => [CSV_HEADINGS, ...(value?.changes ?? []).map(csvRowOf)]}
            isEmpty={!value?.changes.length}
          />
        </div>
      </div>
      <Filters key={filter.text} text={filter.text} />
      <LoadState of={reads} what="the changes" />
      {value?.changes.length === 0 && isFiltered && (
        <p class="quiet">
          {value.next === undefined ? 'No change matches.' : 'No newer change matches; older ones may.'}{' '}
          <Link to="/activity">Show all changes</Link>
        </p>
      )}
      {value?.changes.length === 0 && !isFiltered && (
        <EmptyState title="No changes yet" lines={`floodgate audit --account ${account.value}`}>
          Every change of a rule, an access list, a zone policy, a token or an API key is listed here, with
          its author. In a shell:
        </EmptyState>
      )}
      {value !== undefined && value.changes.length > 0 && (
        <Table
          caption="Changes, newest first"
          columns={columns}
          rows={value.changes}
          keyOf={({ at, action }) => `${at} ${action}`}
        />
      )}
      {value !== undefined && (cursor !== undefined || value.next !== undefined) && (
        <Pages
          newer={['Newest', cursor === undefined ? undefined : { cursor: '' }]}
          older={['Older', value.next === undefined ? undefined : { cursor: value.next }]}
        />
      )}
      {!(may('tokens:read') && may('keys:read')) && (
        <p class="quiet">
          Changes of tokens are shown to tokens with <code>tokens:read</code>, changes of API keys with{' '}
          <code>keys:read</code>.
        </p>
      )}
    </div>
  );
}

interface NewChangesProps {
  readonly newestAt: string;
  readonly isShown: (change: Change) => boolean;
  readonly show: () => void;
}

/**
 * Button that shows changes made since the list was read. Without a click, no row is added, so that no row moves. For
 * the same reason the button is there before the first new change.
 */
function NewChanges({ newestAt, isShown, show }: NewChangesProps) {
  const found = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const changes = (live.value?.changes ?? []).filter(isShown).map(({ at }) => at);
    if (changes.length > 0) found.value = new Set([...found.peek(), ...changes]);
  }, [live.value]);
  const count = [...found.value].filter((at) => at > newestAt).length;
  return (
    <button type="button" class="new-changes" disabled={count === 0} onClick={show}>
      {count === 0 ? 'No new changes' : `Show ${counted(count, 'new change')}`}
    </button>
  );
}

function Filters({ text }: { readonly text: string }) {
  const sought = useSignal(text);
  const submit = (event: Event) => {
    event.preventDefault();
    changeQuery({ text: sought.value.trim(), cursor: '' });
  };
  return (
    <form class="row" onSubmit={submit}>
      <TextField
        label="Actor, address or object"
        type="search"
        data-search
        text={sought}
        placeholder="Press Enter to search  ( / )"
      />
      <Choice name="kind" title="Changes of" options={KINDS} />
      <Choice name="days" title="Period" options={PERIODS} />
    </form>
  );
}

const columns: readonly Column<Change>[] = [
  timeColumn('Time', ({ at }) => at),
  {
    title: 'Actor',
    cell: (change) => (
      <span title={`${change.by} from ${change.from}`}>
        <Link to={`/activity?text=${encodeURIComponent(actorOf(change).name)}`} text={actorOf(change).name} />{' '}
        <UntrustedText class="quiet" text={`${actorOf(change).note}, ${change.from}`} />
      </span>
    ),
  },
  {
    title: 'Change',
    cell: (change) => {
      const path = pathOfSubject(change);
      const subject = <UntrustedText text={subjectOf(change)} />;
      return (
        <span>
          {verbOf(change)} {path === undefined ? subject : <Link to={path}>{subject}</Link>}
        </span>
      );
    },
  },
  { title: 'Values', cell: (change) => <Differences change={change} /> },
];
