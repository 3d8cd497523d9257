import { useSignal } from '@preact/signals';
import type { Tagged } from '../../api/collection.ts';
import type { Failure } from '../../api/failure.ts';
import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { changeMode } from './changeMode.ts';
import { type Mode, modeEffects, modes } from './texts.ts';

export interface ModeSwitchProps {
  readonly id: string;
  /** The rule as it was read last; undefined if it was not read yet. */
  readonly tagged: Tagged<Rule> | undefined;
  /** Current mode of the rule, which may be known before the rule is read. */
  readonly mode: Mode;
}

/** Shows the mode of a rule: as a switch if the user's token may change rules, otherwise as text. */
export function ModeSwitch({ id, tagged, mode }: ModeSwitchProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  const choose = async (wanted: Mode) => {
    // The rule is read first if it was not read yet, or if it had another mode when it was read.
    const read = tagged?.item.mode === mode ? { value: tagged } : await ruleCalls.read(id);
    failure.value = 'failure' in read ? read.failure : await changeMode(read.value, wanted);
  };
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
            onClick={() => void choose(one)}
          >
            {one}
          </button>
        ))}
      </fieldset>
      {failure.value && <ErrorBox failure={failure.value} />}
    </>
  );
}
