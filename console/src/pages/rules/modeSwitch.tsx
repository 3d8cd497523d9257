import type { Tagged } from '../../api/collection.ts';
import type { Rule } from '../../api/types.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { useAction } from '../../ui/useAction.ts';
import { changeMode } from './changeMode.ts';
import { type Mode, modeEffects, modes } from './texts.ts';

export interface ModeSwitchProps {
  readonly id: string;
  /** The rule as it was read last; undefined if it was not read yet. */
  readonly tagged: Tagged<Rule> | undefined;
  /** Current mode of the rule, which may be known before the rule is read. */
  readonly mode: Mode;
}

export function ModeSwitch({ id, tagged, mode }: ModeSwitchProps) {
  const { failure, run } = useAction();
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  // The rule is read again if it had another mode when it was read.
  const known = tagged?.item.mode === mode ? tagged : undefined;
  return (
    <>
      <fieldset class="mode-switch" aria-label="Mode">
        {modes.map((one) => (
          <button
            key={one}
            type="button"
            class={one === mode ? `mode ${one}` : undefined}
            aria-pressed={one === mode}
            title={modeEffects[one]}
            onClick={() => void run(changeMode(id, one, known))}
          >
            {one}
          </button>
        ))}
      </fieldset>
      {failure && <ErrorBox failure={failure} />}
    </>
  );
}
