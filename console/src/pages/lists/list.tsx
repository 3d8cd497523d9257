import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import type { Failure, Outcome } from '../../api/failure.ts';
import { type AccessEntry, type AccessListName, entryCalls } from '../../api/lists.ts';
import { refreshPeriod } from '../../live.ts';
import { changeQuery } from '../../navigate.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { errorAttributes, FieldError } from '../../ui/form/fieldError.tsx';
import { TextInput } from '../../ui/form/textInput.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { SaveCsv } from '../../ui/table/saveCsv.tsx';
import { sortRows } from '../../ui/table/sortRows.ts';
import { type Column, Table } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { addEntry, confirmAndDelete } from './actions.tsx';
import { entryValue, isNetwork, listNames, listsHeadline, listTexts } from './entries.ts';

/** Period after which the lists are read again: the live stream does not report their ETags. */
const REFRESH_MS = 10_000;
const CSV_HEADINGS = ['list', 'network or name', 'enabled', 'comment', 'created (UTC)', 'modified (UTC)'];

type Row = AccessEntry & { readonly list: AccessListName };

async function readBoth(): Promise<Outcome<readonly Row[]>> {
  const rows: Row[] = [];
  for (const list of listNames) {
    const answer = await entryCalls[list].list();
    if ('failure' in answer) return answer;
    rows.push(...answer.value.result.map((entry) => ({ ...entry, list })).reverse());
  }
  return { value: rows };
}

export function AccessLists() {
  const asked = new URLSearchParams(useSearch());
  const [text, sort] = [asked.get('text') ?? '', asked.get('sort') ?? ''];
  const reads = useLoaded(readBoth, [account.value, refreshPeriod(REFRESH_MS)]);
  const { again, loaded } = reads;
  const { value } = loaded.value;
  const columns = useMemo(() => columnsOf(again), []);
  const isMatch = (row: Row) =>
    `${entryValue(row)} ${row.comment}`.toLowerCase().includes(text.trim().toLowerCase());
  const found = value?.filter(isMatch) ?? [];
  return (
    <div class="page">
      <div class="head">
        <h1>{value === undefined ? 'Lists' : listsHeadline(value)}</h1>
        <div class="actions">
          <SaveCsv
            name="access-lists"
            rows={() => [CSV_HEADINGS, ...found.map(csvRowOf)]}
            isEmpty={found.length === 0}
          />
          <label>
            <span class="unseen">Search by network, name or comment</span>
            <input
              type="search"
              data-search
              placeholder="Network, name  ( / )"
              value={text}
              onInput={({ currentTarget }) => changeQuery({ text: currentTarget.value }, { replace: true })}
            />
          </label>
        </div>
      </div>
      {may('dns_protection:write') && <NewEntry added={again} />}
      <LoadState of={reads} what="the denied and allowed entries" />
      {value?.length === 0 && (
        <EmptyState
          title="No entries: the rule in force applies to all networks and names"
          lines={[
            `list="${location.origin}/client/v4/accounts/${account.value}/network/advanced_dns_protection/configs/denylist"`,
            `curl "$list" -H "Authorization: Bearer $FLOODGATE_TOKEN" --data '{"prefix":"198.51.100.0/24"}'`,
          ].join('\n')}
        >
          An entry denies or allows a network or a name, before any rule applies.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && found.length === 0 && (
        <p class="quiet">No entry matches the search.</p>
      )}
      {found.length > 0 && (
        <Table
          caption="Entries of the access lists"
          columns={columns}
          rows={sortRows(found, columns, sort)}
          keyOf={({ id }) => id}
          sort={{ by: sort, change: (by) => changeQuery({ sort: by }) }}
        />
      )}
    </div>
  );
}

const csvRowOf = (row: Row): string[] => [
  ...[row.list, entryValue(row), String(row.enabled), row.comment, row.created_on, row.modified_on],
];

function NewEntry({ added }: { readonly added: () => void }) {
  const list = useSignal<AccessListName>('denylist');
  const value = useSignal('');
  const comment = useSignal('');
  const failure = useSignal<Failure | undefined>(undefined);
  const text = value.value.trim();
  const field = { failure: failure.value, name: isNetwork(text) ? 'prefix' : 'name' };
  const submit = async (event: Event) => {
    event.preventDefault();
    const outcome = await addEntry(list.value, text, comment.value);
    failure.value = 'failure' in outcome ? outcome.failure : undefined;
    if ('failure' in outcome) return;
    value.value = '';
    comment.value = '';
    added();
  };
  return (
    <form class="row" aria-label="New entry" onSubmit={submit}>
      <label>
        Effect
        <select
          value={list.value}
          onChange={({ currentTarget }) => {
            list.value = currentTarget.value as AccessListName; // the options below
          }}
        >
          <option value="denylist">deny</option>
          <option value="allowlist">allow</option>
        </select>
      </label>
      <label>
        New network or name
        <TextInput required placeholder="198.51.100.0/24" text={value} {...errorAttributes(field)} />
      </label>
      <label>
        Comment
        <TextInput maxLength={256} text={comment} />
      </label>
      <button type="submit" class="primary">
        Add the entry
      </button>
      <p class="note quiet">{listTexts[list.value].effect}</p>
      <FieldError {...field} />
      {failure.value && failure.value.status !== 400 && <ErrorBox failure={failure.value} />}
    </form>
  );
}

const columnsOf = (changed: () => void): readonly Column<Row>[] => [
  {
    title: 'Network or name',
    sortKey: entryValue,
    cell: (row) => (
      <span>
        <Link to={`/lists/${row.list}/${row.id}`}>
          <UntrustedText text={entryValue(row)} />
        </Link>
        {'name' in row && <span class="quiet"> and all names below it</span>}
      </span>
    ),
  },
  {
    title: 'Effect',
    sortKey: ({ list, enabled }) => `${list} ${enabled}`,
    cell: ({ list, enabled }) => (
      <span class="state">
        {enabled ? '●' : '○'} {listTexts[list].past}
        {!enabled && ': switched off'}
      </span>
    ),
  },
  {
    title: 'Comment',
    sortKey: ({ comment }) => comment,
    cell: ({ comment }) => <UntrustedText text={comment} />,
  },
  {
    title: 'Changed',
    sortKey: ({ modified_on }) => modified_on,
    cell: ({ modified_on }) => <Time at={modified_on} />,
  },
  {
    title: 'Action',
    isNumber: true,
    cell: (row) =>
      may('dns_protection:write') && (
        <button type="button" onClick={() => void confirmAndDelete(row.list, row.id).then(changed)}>
          Delete<span class="unseen"> {entryValue(row)}</span>
        </button>
      ),
  },
];
