import { type Column, Table } from '../table/table.tsx';
import { UntrustedText } from '../value/untrustedText.tsx';

export interface ConflictRow {
  readonly title: string;
  /** Value when the user began to edit. */
  readonly before: string;
  readonly theirs: string;
  readonly mine: string;
}

export interface ConflictProps {
  readonly kind: string;
  readonly rows: readonly ConflictRow[];
  /** Whether the server rejected the user's change (412). False if the other change arrived before the user saved. */
  readonly wasRejected: boolean;
  readonly sendMine: () => void;
  readonly discardMine: () => void;
}

const columns: readonly Column<ConflictRow>[] = [
  { title: 'Setting', cell: ({ title }) => title },
  { title: 'Before', cell: ({ before }) => <UntrustedText text={before} /> },
  { title: 'Now', cell: ({ theirs }) => <UntrustedText text={theirs} /> },
  {
    title: 'Yours',
    cell: ({ mine, before }) =>
      mine === before ? <span class="quiet">unchanged</span> : <UntrustedText text={mine} />,
  },
];

export function Conflict({ kind, rows, wasRejected, sendMine, discardMine }: ConflictProps) {
  return (
    <section class="conflict" role="alert">
      <p>
        <strong class="look">
          ! Another client changed this {kind} in the meantime{wasRejected && ' (412)'}.
        </strong>{' '}
        That change was saved; yours was not, and is still here.
      </p>
      <Table
        caption="Values before, now and in your change"
        columns={columns}
        rows={rows.filter(({ before, theirs, mine }) => before !== theirs || before !== mine)}
        keyOf={({ title }) => title}
      />
      <div class="actions">
        <button type="button" onClick={discardMine}>
          Discard mine
        </button>
        <button type="button" class="primary" onClick={sendMine}>
          Save mine over theirs
        </button>
      </div>
    </section>
  );
}
