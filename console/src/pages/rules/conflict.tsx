import type { Rule } from '../../api/types.ts';
import { type Settings, settingNames, settingTitles } from './settings.tsx';

export interface ConflictProps {
  /** The rule when one began to change it. */
  readonly base: Rule;
  readonly theirs: Rule;
  readonly mine: Settings;
  /** Whether mine was sent and refused; otherwise somebody was faster than that. */
  readonly wasRefused: boolean;
  readonly sendMine: () => void;
  readonly takeTheirs: () => void;
}

/** Two changes of one rule, side by side. */
export function Conflict({ base, theirs, mine, wasRefused, sendMine, takeTheirs }: ConflictProps) {
  return (
    <section class="conflict" role="alert">
      <p>
        <strong>! Somebody changed this rule in the meantime{wasRefused && ' (412)'}.</strong> Their change
        holds; yours was not saved, and is still here.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">When you began</th>
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
                <td data-title="When you began">{base[name]}</td>
                <td data-title="Now">{theirs[name]}</td>
                <td data-title="Yours">
                  {mine[name] === base[name] ? <span class="quiet">not changed</span> : mine[name]}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" onClick={takeTheirs}>
          Drop mine
        </button>
        <button type="button" class="primary" onClick={sendMine}>
          Save mine on top of theirs
        </button>
      </div>
    </section>
  );
}
