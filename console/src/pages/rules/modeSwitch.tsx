import { useSignal } from '@preact/signals';
import type { Failure } from '../../api/failure.ts';
import { readRule, type TaggedRule } from '../../api/rules.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { changeMode } from './changeMode.ts';
import { type Mode, modes, modeWords } from './words.ts';

export interface ModeSwitchProps {
  readonly id: string;
  /** As it was read last; what is pressed counts only if it is still so. */
  readonly tagged: TaggedRule | undefined;
  /** What is in force, which may be known before the rule is read. */
  readonly mode: Mode;
}

/** The mode of a rule: a switch where the token may write, a word where it may not. */
export function ModeSwitch({ id, tagged, mode }: ModeSwitchProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  const choose = async (wanted: Mode) => {
    // Where the rule is not read yet, or was otherwise then, what is pressed waits for it.
    const read = tagged?.rule.mode === mode ? { value: tagged } : await readRule(id);
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
