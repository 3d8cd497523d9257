import { UntrustedText } from './untrustedText.tsx';

export interface ConflictRow {
  readonly title: string;
  /** Value when the user began to edit. */
  readonly before: string;
  readonly theirs: string;
  readonly mine: string;
}

export interface ConflictProps {
  /** Kind of the object: `rule`. */
  readonly kind: string;
  readonly rows: readonly ConflictRow[];
  /** Whether the server rejected the user's change (412). False if the other change arrived before the user saved. */
  readonly wasRejected: boolean;
  readonly sendMine: () => void;
  readonly discardMine: () => void;
}

/** Message that another client changed the edited object, with the values of both. */
export function Conflict({ kind, rows, wasRejected, sendMine, discardMine }: ConflictProps) {
  return (
    <section class="conflict" role="alert">
      <p>
        <strong>
          ! Another client changed this {kind} in the meantime{wasRejected && ' (412)'}.
        </strong>{' '}
        That change was saved; yours was not, and is still here.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {rows
            .filter(({ before, theirs, mine }) => before !== theirs || before !== mine)
            .map(({ title, before, theirs, mine }) => (
              <tr key={title}>
                <td data-title="Setting">{title}</td>
                <td data-title="Before">
                  <UntrustedText text={before} />
                </td>
                <td data-title="Now">
                  <UntrustedText text={theirs} />
                </td>
                <td data-title="Yours">
                  {mine === before ? <span class="quiet">unchanged</span> : <UntrustedText text={mine} />}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
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
