import type { Rule } from '../../api/types.ts';
import { type Settings, settingNames, settingTitles } from './settings.tsx';

export interface ConflictProps {
  /** The rule as it was when the user began to edit it. */
  readonly base: Rule;
  readonly theirs: Rule;
  readonly mine: Settings;
  /** Whether the server rejected the user's change (412). False if the other change arrived before the user saved. */
  readonly wasRejected: boolean;
  readonly sendMine: () => void;
  readonly discardMine: () => void;
}

export function Conflict({ base, theirs, mine, wasRejected, sendMine, discardMine }: ConflictProps) {
  return (
    <section class="conflict" role="alert">
      <p>
        <strong>! Another client changed this rule in the meantime{wasRejected && ' (412)'}.</strong> That
        change was saved; yours was not, and is still here.
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
          {settingNames
            .filter((name) => base[name] !== theirs[name] || base[name] !== mine[name])
            .map((name) => (
              <tr key={name}>
                <td data-title="Setting">{settingTitles[name]}</td>
                <td data-title="Before">{base[name]}</td>
                <td data-title="Now">{theirs[name]}</td>
                <td data-title="Yours">
                  {mine[name] === base[name] ? <span class="quiet">unchanged</span> : mine[name]}
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
