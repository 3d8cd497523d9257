import { useMemo } from 'preact/hooks';
import { entryCalls } from '../../api/account.ts';
import type { Outcome } from '../../api/failure.ts';
import type { AccessEntry, AccessListName } from '../../api/types.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { useDraft } from '../../ui/form/draft.ts';
import { bindingOf, SelectField, TextField } from '../../ui/form/fields.tsx';
import { useSearchField } from '../../ui/form/searchField.tsx';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { SaveCsv } from '../../ui/table/saveCsv.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { useAction } from '../../ui/useAction.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { addEntry, confirmAndDeleteEntry } from './actions.tsx';
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
  const { field, text } = useSearchField('Search by network, name or comment', 'Network, name');
  const reads = useLoaded(readBoth, [account.value], { everyMs: REFRESH_MS });
  const { again, value } = reads;
  const columns = useMemo(() => columnsOf(again), []);
  const isMatch = (row: Row) => `${entryValue(row)} ${row.comment}`.toLowerCase().includes(text);
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
          {field}
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
      {value !== undefined && value.length > 0 && (
        <Table
          caption="Entries of the access lists"
          columns={columns}
          rows={value}
          isMatch={isMatch}
          noMatch="No entry matches the search."
          keyOf={({ id }) => id}
          sort=""
        />
      )}
    </div>
  );
}

const csvRowOf = (row: Row): string[] => [
  row.list,
  entryValue(row),
  String(row.enabled),
  row.comment,
  row.created_on,
  row.modified_on,
];

const EMPTY = { list: 'denylist', value: '', comment: '' };

function NewEntry({ added }: { readonly added: () => void }) {
  const draft = useDraft('entry', EMPTY, ({ value, comment }) => value !== '' || comment !== '');
  const { list, value, comment } = draft.value;
  const field = (name: keyof typeof EMPTY) =>
    bindingOf(draft.value, (changed) => (draft.value = changed), name);
  const { failure, isBusy, run } = useAction();
  const text = value.trim();
  const chosen = listNames.find((name) => name === list) ?? 'denylist';
  const submit = async (event: Event) => {
    event.preventDefault();
    // A double click would add the entry twice.
    if (isBusy) return;
    const outcome = await run(addEntry(chosen, text, comment));
    if ('failure' in outcome) return;
    draft.value = { ...EMPTY, list };
    added();
  };
  return (
    <form class="row" aria-label="New entry" onSubmit={submit}>
      <SelectField
        label="Effect"
        chosen={field('list')}
        options={[
          ['denylist', 'deny'],
          ['allowlist', 'allow'],
        ]}
      />
      <TextField
        label="New network or name"
        required
        placeholder="198.51.100.0/24"
        text={field('value')}
        name={isNetwork(text) ? 'prefix' : 'name'}
        failure={failure}
      />
      <TextField label="Comment" maxLength={256} text={field('comment')} />
      <button type="submit" class="primary">
        Add the entry
      </button>
      <p class="note quiet">{listTexts[chosen].effect}</p>
      {failure && failure.status !== 400 && <ErrorBox failure={failure} />}
    </form>
  );
}

const columnsOf = (changed: () => void): readonly Column<Row>[] => [
  {
    title: 'Network or name',
    sortKey: entryValue,
    cell: (row) => (
      <span>
        <Link to={`/lists/${row.list}/${row.id}`} text={entryValue(row)} />
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
  timeColumn('Changed', ({ modified_on }) => modified_on),
  {
    title: 'Action',
    isNumber: true,
    cell: (row) =>
      may('dns_protection:write') && (
        <button type="button" onClick={() => void confirmAndDeleteEntry(row.list, row.id).then(changed)}>
          Delete<span class="unseen"> {entryValue(row)}</span>
        </button>
      ),
  },
];
