import { useSignal } from '@preact/signals';
import type { Failure } from '../../api/failure.ts';
import type { TaggedRule } from '../../api/rules.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { changeMode } from './changeMode.ts';
import { type Mode, modes, modeWords } from './words.ts';

export interface ModeSwitchProps {
  /** As it was read last; what is pressed counts only if it is still so. */
  readonly tagged: TaggedRule | undefined;
  /** What is in force, where the rule is not read yet. */
  readonly mode: Mode;
}

/** The mode of a rule: a switch where the token may write, a word where it may not. */
export function ModeSwitch({ tagged, mode }: ModeSwitchProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  const choose = async (wanted: Mode) => {
    if (tagged !== undefined) failure.value = await changeMode(tagged, wanted);
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
            title={modeWords[one]}
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
